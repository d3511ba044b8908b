"""What a trained folder says of its training: its card, and hashes of the texts that it learned."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from retrieval.texts.small_files import read_small_json, read_small_text

CARD: Final = "training.json"
LEARNED: Final = "learned.txt"
HASH_LENGTH: Final = 16
"""Hexadecimal digits that are kept of a text's sha256."""


def write_learned_texts(folder: Path, digests: Iterable[str]) -> None:
    """Keep what was learned; `digests` are those of stored texts."""
    kept = sorted({digest[:HASH_LENGTH] for digest in digests})
    (folder / LEARNED).write_text("".join(f"{line}\n" for line in kept), "ascii")


def read_learned_texts(folder: Path) -> frozenset[str]:
    """The hashes, empty for weights that were not trained here. Raises ValueError for another file."""
    try:
        return frozenset(read_small_text(folder / LEARNED).split())
    except FileNotFoundError:
        return frozenset()


def read_training(folder: Path) -> dict[str, Any] | None:
    """The card of a trained folder, None for other weights. Raises ValueError for another file."""
    try:
        told = read_small_json(folder / CARD)
    except FileNotFoundError:
        return None
    if not isinstance(told, dict) or "hash" not in told:
        raise ValueError("has no hash")
    return told


def count_learned(learned: frozenset[str], digests: Iterable[str]) -> int:
    """How many of these texts were learned."""
    return sum(digest[:HASH_LENGTH] in learned for digest in digests)
