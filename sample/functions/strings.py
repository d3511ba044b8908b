"""Single strings: palindromes, conversions, small checks."""

import ast
import json
import re
import string

from decouple import Csv


def is_palindrome_phrase(text):
    """Check if a string is a palindrome, ignoring case, spaces and punctuation."""
    letters = [character.lower() for character in text if character.isalnum()]
    return letters == letters[::-1]


def is_palindrome(text):
    """Check if a string is a palindrome."""
    return text == text[::-1]


def is_palindrome_any_case(text):
    """Check if a string is a palindrome, ignoring case."""
    lowered = text.casefold()
    return lowered == lowered[::-1]


def palindrome_two_pointers(text):
    """Check from both ends if a string is a palindrome; ignore case and punctuation."""
    left, right = 0, len(text) - 1
    while left < right:
        if not text[left].isalnum():
            left += 1
        elif not text[right].isalnum():
            right -= 1
        elif text[left].lower() != text[right].lower():
            return False
        else:
            left += 1
            right -= 1
    return True


def palindrome_by_regex(text):
    """Check if a sentence is a palindrome; case and punctuation are removed first."""
    cleaned = re.sub(r"[^a-z0-9]", "", text.lower())
    return cleaned == cleaned[::-1]


def palindrome_letters_only(text):
    """Check whether a string is a palindrome when only its letters count."""
    letters = re.sub(r"[^A-Za-z]", "", text).lower()
    return letters == letters[::-1]


def palindrome_no_spaces(text):
    """Check if a string is a palindrome, ignoring spaces and case."""
    squeezed = text.replace(" ", "").lower()
    return squeezed == squeezed[::-1]


def palindrome_by_table(text):
    """Check if a string is a palindrome after deleting punctuation and white space."""
    table = str.maketrans("", "", string.punctuation + string.whitespace)
    cleaned = text.translate(table).lower()
    return all(a == b for a, b in zip(cleaned, reversed(cleaned)))


def string_to_characters(text):
    """Convert a string to a list of its characters."""
    return list(text)


def split_on_commas(text):
    """Convert a comma separated string to a list of parts."""
    return [part.strip() for part in text.split(",")]


def parse_list_literal(text):
    """Convert the string form of a list back to the list."""
    value = ast.literal_eval(text)
    if not isinstance(value, list):
        raise ValueError("not a list: " + text)
    return value


def list_to_string(items, separator=", "):
    """Convert a list to a string, joining the items with a separator."""
    return separator.join(str(item) for item in items)


def string_to_numbers(text):
    """Convert a string to a list of whole numbers."""
    return [int(part) for part in text.split()]


def string_to_set(text):
    """Convert a string to a set of characters."""
    return set(text)


def env_string_to_list(text):
    """Convert a string from the environment to a list, as decouple reads it."""
    return Csv()(text)


def json_string_to_list(text):
    """Convert a JSON string to a list."""
    return json.loads(text)


def string_to_words(text):
    """Convert a string to a list of words without punctuation."""
    return re.findall(r"[A-Za-z0-9']+", text)


def reverse_string(text):
    """Reverse a string."""
    return text[::-1]


def remove_spaces(items):
    """Remove the spaces from each of the strings in a list."""
    return [item.replace(" ", "") for item in items]
