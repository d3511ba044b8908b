"""The terms of a text."""

from __future__ import annotations

import re

CAMEL_HUMP = re.compile(r"([a-z0-9])([A-Z])")
WORD_OR_NUMBER = re.compile(r"[^\W\d_]+|\d+")


def tokenize_text(text: str) -> list[str]:
    """Split text at everything that is no letter and at camel humps; lower-case; keep numbers apart.

    >>> tokens("readCSV(file_name, 2)")
    ['read', 'csv', 'file', 'name', '2']
    """
    return WORD_OR_NUMBER.findall(CAMEL_HUMP.sub(r"\1 \2", text).lower())
