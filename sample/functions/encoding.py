"""Bytes, alphabets and what can be guessed from them."""

import unicodedata


def detect_encoding(data, encodings=("utf-8", "utf-16", "latin-1")):
    """Detect the encoding (not the language) of a text in bytes."""
    for encoding in encodings:
        try:
            data.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return None


def detect_newline(text):
    """Detect which line ends a text uses."""
    if "\r\n" in text:
        return "\r\n"
    return "\r" if "\r" in text else "\n"


def detect_indent(source):
    """Detect the indent of a source text, in spaces."""
    widths = [len(line) - len(line.lstrip(" ")) for line in source.splitlines() if line.startswith(" ")]
    return min(widths, default=0)


def detect_script(text):
    """Detect the script of a text, such as LATIN or CYRILLIC, from its letters."""
    counts = {}
    for character in text:
        if character.isalpha():
            script = unicodedata.name(character, "UNKNOWN").split()[0]
            counts[script] = counts.get(script, 0) + 1
    return max(counts, key=counts.get) if counts else None


def language_name(code):
    """Return the English name of a language for its two letter code."""
    names = {"de": "German", "en": "English", "es": "Spanish", "fr": "French", "it": "Italian"}
    return names.get(code.lower(), "unknown language")


def source_language(filename):
    """Detect the programming language of a file by the end of its name."""
    endings = {"py": "Python", "js": "JavaScript", "c": "C", "rs": "Rust", "go": "Go"}
    return endings.get(filename.rsplit(".", 1)[-1], "unknown")


def looks_english(text):
    """Tell whether the language of a text is English, by its most common words."""
    words = text.lower().split()
    hits = sum(word in {"the", "and", "of", "to", "is", "in", "that"} for word in words)
    return bool(words) and hits / len(words) > 0.1


def caesar(text, shift):
    """Shift the letters of a text along the alphabet."""
    result = []
    for character in text:
        if character.isascii() and character.isalpha():
            start = ord("A") if character.isupper() else ord("a")
            character = chr((ord(character) - start + shift) % 26 + start)
        result.append(character)
    return "".join(result)
