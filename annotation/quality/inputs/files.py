"""Pairs, truth and labels from JSON Lines. A file with a bad line is refused whole, line by line. No Django.

pairs   {"id", "query", "code"}, or {"id", "query_id", "code_id"} of collections; perhaps "stratum"
truth   {"id", "label"} or {"id", "votes"}: votes that all agree are a label, others leave the pair out
labels  {"id", "label"}, null where it could not judge; perhaps "tested" and "why"
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, TypeVar

from annotation.llm.strict_json import NotJson, parse_strict_json
from retrieval.texts.hostile import mark_hostile_characters

MOST_TOLD: Final = 20
LONGEST_LINE: Final = 4 * 1024 * 1024
LONGEST_ID: Final = 300
LONGEST_STRATUM: Final = 40
MOST_STRATA: Final = 12
ALL: Final = "all"
SPLIT: Final = "split"
"""Instead of a label: votes that differ."""
Row = Mapping[str, Any]
T = TypeVar("T")


class BadFile(ValueError):
    """A file can't be used; the message has its first bad lines with their numbers."""

    def __init__(self, name: str, problems: list[str], count: int = 0) -> None:
        """`count`: how many bad lines there are, where not all are in `problems`."""
        more = max(count, len(problems)) - MOST_TOLD
        told = [f"{name}, {problem}" for problem in problems[:MOST_TOLD]]
        super().__init__("\n".join([*told, *([f"{name}: and {more:,} more bad lines"] if more > 0 else [])]))


class TooManyLines(BadFile):
    """A file has more lines than whoever asked can take."""


class BadLine(ValueError):
    """Why one line is refused."""


@dataclass(frozen=True, slots=True)
class GivenPair:
    """A pair of the file: its texts, or the ids of a query and a snippet, and its stratum (empty: none)."""

    id: str
    query: str = ""
    code: str = ""
    query_id: str = ""
    code_id: str = ""
    stratum: str = ""

    @property
    def by_ids(self) -> bool:
        return not self.query


@dataclass(frozen=True, slots=True)
class Truth:
    """What holds, by pair; `split` pairs have votes that differ, `open` ones no label."""

    labels: Mapping[str, int]
    split: frozenset[str]
    open: frozenset[str]


@dataclass(frozen=True, slots=True)
class GivenLabel:
    """What a system outside says of a pair; `label` None: it could not judge."""

    label: int | None
    tested: bool | None = None
    why: str = ""


def read_pairs(stream: BinaryIO, name: str, most: float = math.inf) -> tuple[GivenPair, ...]:
    """The pairs in their order, at most so many. Raises BadFile."""
    found = read_json_lines(stream, name, pair_of, most)
    rows = list(found.values())
    with_stratum = [row.stratum != "" for row in rows]
    if any(with_stratum) and not all(with_stratum):
        bare = [row.id for row in rows if not row.stratum]
        raise BadFile(name, [f'pair {one!r}: no "stratum", which others have: all or none' for one in bare])
    strata = {row.stratum for row in rows}
    if len(strata) > MOST_STRATA:
        raise BadFile(name, [f"it has {len(strata)} strata; at most {MOST_STRATA} are allowed"])
    return tuple(rows)


def pair_of(row: Row, name: str) -> GivenPair:
    """Raises BadLine."""
    stratum = optional_text(row, "stratum")[:LONGEST_STRATUM].strip()
    if stratum == ALL:
        raise BadLine(f'"stratum" can\'t be {ALL!r}, which means every pair')
    if "query" in row or "code" in row:
        return GivenPair(
            name, require_text_field(row, "query"), require_text_field(row, "code"), stratum=stratum
        )
    if "query_id" not in row:
        raise BadLine('it needs "query" and "code", or "query_id" and "code_id"')
    return GivenPair(
        name,
        query_id=require_text_field(row, "query_id"),
        code_id=require_text_field(row, "code_id"),
        stratum=stratum,
    )


def read_truth(stream: BinaryIO, name: str, pairs: Iterable[str]) -> Truth:
    """The truth of these pairs. Raises BadFile, also for a pair that is not among them."""
    known = frozenset(pairs)

    def truth_of(row: Row, pair: str) -> int | str | None:
        refuse_unknown(pair, known)
        return parse_agreed_label(row)

    found = read_json_lines(stream, name, truth_of)
    labels = {pair: value for pair, value in found.items() if isinstance(value, int)}
    split = frozenset(pair for pair, value in found.items() if value == SPLIT)
    return Truth(labels, split, known - labels.keys() - split)


def parse_agreed_label(row: Row) -> int | str | None:
    """The label that all say, SPLIT where votes differ, None without any. Raises BadLine."""
    if row.get("votes") is None:
        if "label" not in row:
            raise BadLine('it needs "label" or "votes"')
        return parse_label_value(row["label"], "label")
    votes = row["votes"]
    if not isinstance(votes, list):
        raise BadLine('"votes" has to be a list of 0, 1 and null')
    given = {parse_label_value(vote, "votes") for vote in votes}
    if not given - {None}:
        return None
    if len(given) > 1:
        return SPLIT
    voted, alone = given.pop(), parse_label_value(row.get("label"), "label")
    if alone not in (None, voted):
        raise BadLine(f'"label" is {alone}, and all votes are {voted}')
    return voted


def read_labels(stream: BinaryIO, name: str, pairs: Iterable[str]) -> dict[str, GivenLabel]:
    """A system's labels by pair. Raises BadFile, also for a pair that is not among `pairs`."""
    known = frozenset(pairs)

    def label_of(row: Row, pair: str) -> GivenLabel:
        refuse_unknown(pair, known)
        tested = row.get("tested")
        if tested is not None and not isinstance(tested, bool):
            raise BadLine('"tested" has to be true or false')
        if "label" not in row:
            raise BadLine('it needs "label": 0, 1, or null where it could not judge')
        return GivenLabel(parse_label_value(row["label"], "label"), tested, optional_text(row, "why"))

    return read_json_lines(stream, name, label_of)


def refuse_unknown(pair: str, known: frozenset[str]) -> None:
    if pair not in known:
        raise BadLine(f"no pair has the id {pair!r}")


def read_json_lines(
    stream: BinaryIO, name: str, make: Callable[[Row, str], T], most: float = math.inf
) -> dict[str, T]:
    """What `make` makes of each line and its id, in order. Raises BadFile with the first bad lines.

    Of the file no more than `most` good lines are read: then it raises TooManyLines.
    """
    found, lines, problems, count = dict[str, T](), dict[str, int](), list[str](), 0
    for number, content in number_nonblank_lines(stream):
        try:
            row = parse_json_row(content)
            pair = require_text_field(row, "id")[:LONGEST_ID]
            if pair in lines:
                raise BadLine(f"a second line for {pair!r}; the first is line {lines[pair]}")
            found[pair] = make(row, pair)
            lines[pair] = number
        except BadLine as why:
            count += 1
            if count <= MOST_TOLD:
                problems.append(f"line {number}: {why}")
        if len(found) > most:
            raise TooManyLines(name, [f"line {number}: more than {most:,.0f} are too many"])
    if problems:
        raise BadFile(name, problems, count)
    if not found:
        raise BadFile(name, ["line 1: the file is empty"])
    return found


def number_nonblank_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers from 1 on."""
    number = 0
    while line := stream.readline(LONGEST_LINE + 1):
        number += 1
        if line.strip():
            yield number, line
        while len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            line = stream.readline(LONGEST_LINE + 1)


def parse_json_row(content: bytes) -> Row:
    """Raises BadLine."""
    if len(content) > LONGEST_LINE:
        raise BadLine(f"longer than {LONGEST_LINE:,} bytes")
    try:
        row = parse_strict_json(content.decode("utf-8-sig"))
    except UnicodeDecodeError as why:
        raise BadLine(f"is not UTF-8 (byte {why.start + 1} of the line)") from why
    except NotJson as why:
        raise BadLine(f"is not JSON: {why}") from why
    if not isinstance(row, dict):
        raise BadLine("has to be a JSON object")
    return row


def require_text_field(row: Row, key: str) -> str:
    """Raises BadLine where there is none."""
    value = row.get(key)
    if isinstance(value, int) and not isinstance(value, bool) and key.endswith("id"):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise BadLine(f'"{key}" has to be a text')
    return mark_hostile_characters(value)


def optional_text(row: Row, key: str) -> str:
    value = row.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadLine(f'"{key}" has to be a text')
    return mark_hostile_characters(value)


def parse_label_value(value: object, key: str) -> int | None:
    """0, 1, or None where nobody could judge. Raises BadLine."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value not in (0, 1):
        raise BadLine(f'"{key}" has to be 0 or 1, or null where nobody could judge')
    return value
