"""JSON and TOML that somebody else may have written: small files, and not nested without an end."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, Final

MOST_BYTES: Final = 64 * 2**20
"""A manifest lists tables and files: a thousand entries take 200 KB."""


def read_small_text(path: Path, most_bytes: int = MOST_BYTES) -> str:
    """What the file says. Raises OSError, and ValueError where it is larger, or no UTF-8."""
    with path.open("rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise ValueError(f"has more than {most_bytes:,} bytes")
    return content.decode("utf-8")


def read_small_json(path: Path, most_bytes: int = MOST_BYTES) -> Any:
    """The content, as `json.loads` gives it. Raises OSError, and ValueError with a message for people."""
    return parse_json(read_small_text(path, most_bytes))


def parse_json(text: str | bytes) -> Any:
    """As `json.loads`, which raises RecursionError for what is nested too deeply; this raises ValueError."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def parse_toml(text: str) -> dict[str, Any]:
    """As `tomllib.loads`, with a ValueError for what is nested too deeply."""
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
