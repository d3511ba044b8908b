"""Working on running text: words, lines, counting, turning round."""

import re
from collections import Counter, defaultdict


def word_frequencies(text):
    """Count the frequency of each word in a text, ignoring case and punctuation."""
    return Counter(re.findall(r"\w+", text.lower()))


def count_split_words(text):
    """Count how often each word occurs in a text; words are separated by white space."""
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def letter_frequencies(text):
    """Count the frequency of each letter in a text."""
    return Counter(character for character in text.lower() if character.isalpha())


def count_occurrences(text, word):
    """Count how often a word occurs in a text."""
    return text.lower().count(word.lower())


def word_shares(text):
    """Return the relative frequency of each word in a text as a share of all words."""
    words = text.lower().split()
    return {word: words.count(word) / len(words) for word in set(words)}


def content_word_counts(text, stop_words=("the", "a", "an", "of", "and", "in", "to")):
    """Count the frequency of each word in the text."""
    counts = defaultdict(int)
    for word in re.findall(r"[a-z]+", text.lower()):
        if word not in stop_words:
            counts[word] += 1
    return dict(counts)


def sorted_word_counts(text):
    """Count each word of a text and return (word, count) pairs, most frequent first."""
    counts = defaultdict(int)
    for word in re.split(r"\W+", text.lower()):
        if word:
            counts[word] += 1
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def print_word_counts(text):
    """Print each word of a text with its frequency."""
    for word, count in Counter(text.split()).most_common():
        print(f"{count:6d} {word}")


def reverse_word_order(sentence):
    """Reverse the order of the words in a string."""
    return " ".join(reversed(sentence.split()))


def reverse_each_word(sentence):
    """Reverse the letters of each word in a string; the words stay where they are."""
    return " ".join(word[::-1] for word in sentence.split(" "))


def reverse_words_two_pointers(text):
    """Reverse the words of a string by swapping them from both ends."""
    words = text.split()
    left, right = 0, len(words) - 1
    while left < right:
        words[left], words[right] = words[right], words[left]
        left += 1
        right -= 1
    return " ".join(words)


def reverse_words_keep_spacing(text):
    """Reverse the words in a string and keep the white space between them."""
    return "".join(reversed(re.split(r"(\s+)", text)))


def swap_outer_words(text):
    """Swap the first and the last word in a string."""
    words = text.split()
    if len(words) > 1:
        words[0], words[-1] = words[-1], words[0]
    return " ".join(words)


def mirror_words(text):
    """Reverse every word in a string, leaving punctuation in its place."""
    return re.sub(r"\w+", lambda match: match.group()[::-1], text)


def reverse_words_by_slice(text):
    """Reverse the words in a string with a slice."""
    words = text.split()
    return " ".join(words[len(words) - 1 : 0 : -1])


def capitalise_words(text):
    """Make the first letter of each word in a string upper case."""
    return " ".join(word[:1].upper() + word[1:] for word in text.split(" "))


def excerpt(text, limit=80):
    """Shorten a text to a limit at a word boundary and add an ellipsis."""
    if len(text) <= limit:
        return text
    return text[: limit - 1].rsplit(" ", 1)[0] + "…"
