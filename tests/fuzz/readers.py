"""Readers of files that are no formats of `import`: each says what it refused, and what it told of.

A reader gets the file and returns how it ended; what it raises besides is a failure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final


@dataclass(frozen=True)
class Ended:
    """How a command ended: what it refused as a whole, and the records that it told of by file.

    `kept`: how many records it has, None where these are found by their texts.
    """

    refused: str
    told: dict[str, list[int | None]] = field(default_factory=dict)
    kept: int | None = None


def read_pairs(path: Path) -> Ended:
    """Given pairs, without the rows that can't be read."""
    from retrieval.given_pairs import NoPairs, Wanted, of_file

    try:
        read = of_file(Wanted(path, "fuzz", skip_bad=True))
    except NoPairs as why:
        return Ended(str(why))
    told = [problem.record or None for problem in read.left_out]
    return Ended("", {str(path): told} if told else {})


def read_labels(path: Path) -> Ended:
    """Labels of a study: all of them, or none."""
    from annotation.studies.label_import.foreign_labels import Format, NotImported, read_foreign_labels

    try:
        with path.open("rb") as stream:
            return Ended("", kept=len(read_foreign_labels(stream, Format.CSV)))
    except NotImported as why:
        return Ended(str(why) or "refused")


def read_planted(path: Path) -> Ended:
    """Planted pairs: all of them, or none."""
    from annotation.studies.sampling.planted_pairs import read_planted_lines
    from annotation.studies.sampling.sample_order import SampleRefused

    try:
        return Ended("", kept=len(read_planted_lines(path.read_bytes().decode("utf-8", "replace"), "binary")))
    except SampleRefused as why:
        return Ended(str(why))


def read_ranks(path: Path) -> Ended:
    """The ranks of a score sheet: all of them, or none."""
    from retrieval.sources.formats.ncs import read_score_sheet
    from retrieval.sources.readers.lines import Malformed

    try:
        return Ended("", kept=len(next(iter(read_score_sheet(path).values()))))
    except Malformed as why:
        return Ended(str(why))


def read_reply_lines(path: Path) -> Ended:
    """Replies of an exchange: each line is taken or told."""
    from annotation.llm.exchange import ExchangeProblem, read_replies

    with path.open("rb") as stream:
        found = list(read_replies(stream))
    told: list[int | None] = [one.line for one in found if isinstance(one, ExchangeProblem)]
    return Ended("", {str(path): told} if told else {}, len(found))


READERS: Final[dict[str, Callable[[Path], Ended]]] = {
    "given-pairs": read_pairs,
    "study-labels": read_labels,
    "planted-pairs": read_planted,
    "score-sheet": read_ranks,
    "replies": read_reply_lines,
}
