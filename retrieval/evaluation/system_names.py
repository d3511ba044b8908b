"""The encoders in a system's name: `bm25+minilm` and `bm25+codebert:/models/mine` are means of two."""

from __future__ import annotations

import re
from typing import Final

from retrieval.encoders import NAMES

BEFORE_A_NAME: Final = re.compile(rf"\+(?=(?:{'|'.join(map(re.escape, NAMES))})(?:[:+]|\Z))")
"""A + before a name of the registry, alone or with a folder, hub id or model after it."""


def parts_of(system: str) -> list[str]:
    """The encoders that a system's name joins by +, each as it is written; joined again they give the name.

    A folder may have a + in its path, so after a colon only one before a name of the registry parts two.
    """
    return [one for part in BEFORE_A_NAME.split(system) for one in _plain_first(part)]


def _plain_first(part: str) -> list[str]:
    """The plain names before the first colon, which have no +; the last one keeps what comes after it."""
    head, colon, source = part.partition(":")
    *plain, last = head.split("+")
    return [*plain, f"{last}{colon}{source}"]
