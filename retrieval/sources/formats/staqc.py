"""StaQC's pickles of Stack Overflow code: a dict from (question id, place of the block) to code, or from id.

None is run: `retrieval.sources.readers.safe_pickle` reads plain data out of them.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from retrieval.sources import GivenLabel, Item, Problem, Query, Snippet
from retrieval.sources.readers.lines import clip_text
from retrieval.sources.readers.safe_pickle import Hostile, load_safe_pickle

FILE_LIMIT = 128 * 2**20
"""Bytes; StaQC's largest file has less, and a pickle is read into memory as a whole."""
LICENCE = "CC-BY-SA-3.0"


def read_staqc_blocks(path: Path, titles: Path | None = None) -> Iterator[Item]:
    """Yield the code blocks; with `titles` (question id → title) the questions too, labelled with their code.

    A label 1 says what StaQC says: the block answers the question by itself.
    """
    reading = titles or path
    try:
        asked = _dict(reading) if titles else {}
        reading = path
        blocks = _dict(reading)
    except (OSError, pickle.UnpicklingError) as error:
        yield Problem(str(reading), 0, f"cannot be read: {error}", costs_labels=True)
        return
    for number, (key, code) in enumerate(blocks.items(), 1):
        yield from _staqc_items(str(path), number, key, code, asked)


def _staqc_items(file: str, number: int, key: object, code: object, asked: dict[Any, Any]) -> Iterator[Item]:
    question = key[0] if isinstance(key, tuple) and key else key
    if not isinstance(code, str) or not code.strip() or not isinstance(question, int):
        found = clip_text(code) if isinstance(code, str) else type(code).__name__
        why = f"expected a question id and code, found {type(key).__name__} and {found}"
        yield Problem(file, number, why, costs_labels=bool(asked))
        return
    name = "-".join(map(str, key)) if isinstance(key, tuple) else str(key)
    origin = f"https://stackoverflow.com/questions/{question}"
    yield Snippet(code, name, origin, LICENCE, "question id and block")
    if question not in asked:
        return  # titles may be those of other questions
    title = asked[question]
    if isinstance(title, str) and title.strip():
        yield Query(title, str(question), origin, LICENCE, "question id")
        yield GivenLabel(title, code, 1, "binary", str(question), name)
    else:
        why = f"expected a title for the question {question}, found {clip_text(str(title))}"
        yield Problem(file, number, why, costs_labels=True)


def _dict(path: Path) -> dict[Any, Any]:
    with path.open("rb") as stream:
        content = stream.read(FILE_LIMIT + 1)
    if len(content) > FILE_LIMIT:
        raise Hostile(f"{path.name} is longer than {FILE_LIMIT:,} bytes")
    value = load_safe_pickle(content)
    if not isinstance(value, dict):
        raise Hostile(f"{path.name}: expected a dict, found {type(value).__name__}")
    return value
