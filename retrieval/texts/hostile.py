"""The one function through which every text from outside passes before it is stored."""

import math
import re

UNSAVEABLE = re.compile("[\x00\ud800-\udfff]")


def mark_hostile_characters(text: str) -> str:
    """`text` with NUL and lone surrogates turned into visible marks, which every database can save.

    A NUL becomes ␀; a lone surrogate becomes its code point in ⟨⟩. Other text is returned as it is.
    """
    return UNSAVEABLE.sub(visible_mark_of, text)


def visible_mark_of(found: re.Match[str]) -> str:
    character = found.group()
    return "␀" if character == "\x00" else f"⟨U+{ord(character):04X}⟩"


def clean_json(value: object) -> object:
    """`value` (JSON-like) with every text cleaned and every non-finite number turned into a visible text."""
    if isinstance(value, str):
        return mark_hostile_characters(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f"⟨{value}⟩"
    if isinstance(value, dict):
        return {mark_hostile_characters(str(key)): clean_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_json(item) for item in value]
    return value
