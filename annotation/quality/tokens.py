"""Tokens of requests and replies, counted by one tokenizer for everybody, whatever a provider has billed.

Without a tokenizer a token is a word or a symbol. An exchange build has no usage, and two providers count
differently: so nobody's own count is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

from annotation.llm.token_counter import CannotCount, count_tokens_locally, file_of, format_tokenizer_name

PIECES: Final = re.compile(r"\w+|[^\w\s]")
BY_PIECES: Final = "words and symbols (\\w+ or one of [^\\w\\s])"
MOST_CHARACTERS: Final = 2_000_000
"""What a tokenizer gets at once: a second of its time."""
Count = Callable[[Sequence[str]], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Counter:
    """Counts tokens; `name` says by what."""

    name: str
    count: Count


def count_words_and_symbols(texts: Sequence[str]) -> list[int]:
    """Words and symbols of each text."""
    return [sum(1 for _ in PIECES.finditer(text)) for text in texts]


def counter_of(place: str, model: str) -> tuple[Counter, ...]:
    """What counts, the best first: the tokenizer at `place` (a file, or a folder with one for `model`), then
    words and symbols.
    """
    simple = Counter(BY_PIECES, count_words_and_symbols)
    if not place:
        return (simple,)
    try:
        path = file_of(place, model)
    except CannotCount:
        return (simple,)
    return Counter(f"the tokenizer {format_tokenizer_name(path)}", partial(count_in_runs, path)), simple


def count_in_runs(path: Path, texts: Sequence[str]) -> list[int]:
    """By a child process for each run of texts. Raises CannotCount."""
    return list(
        chain.from_iterable(count_tokens_locally(path, run) for run in split_texts_into_batches(texts))
    )


def split_texts_into_batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in runs of so many characters, or one that is longer."""
    run, size = list[str](), 0
    for text in texts:
        if run and size + len(text) > MOST_CHARACTERS:
            yield run
            run, size = [], 0
        run.append(text)
        size += len(text)
    if run:
        yield run
