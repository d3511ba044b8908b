"""Files of labels that people gave elsewhere: CodeSearchNet's, or one with item, label and perhaps rater.

Everything is read and checked before anything is stored; each problem names its line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import BinaryIO, Final

from annotation.stats.agreement.reliability import MOST_VALUES
from retrieval.sources import Problem
from retrieval.sources.readers.compression import encoding_of
from retrieval.sources.readers.lines import named_twice
from retrieval.sources.readers.table_rows import lines_of_text, name_cells, read_table_cells
from retrieval.texts.hostile import mark_hostile_characters

MOST_ROWS: Final = 200_000
MOST_BYTES: Final = 100_000_000
MOST_PROBLEMS: Final = 20
LONGEST: Final = 2000
"""Characters of a query, an address, a name; notes may have as many."""
LONGEST_RATER: Final = 120
RELEVANCE: Final = ("0", "1", "2", "3")
SEPARATOR: Final = "\x1f"
NO_HEADER: Final = "the header must name {}; {} missing. It has: {}."

Cells = Mapping[str, str]


class Format(StrEnum):
    """What a file looks like."""

    CODESEARCHNET = "codesearchnet"
    CSV = "csv"


class NotImported(Exception):
    """Nothing was stored; each problem is a line to be read."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = list(problems)


@dataclass(frozen=True, slots=True)
class ForeignLabel:
    """One label of a file: the `row`th, in that line. `item` is what was judged, in parts; `rater` is empty
    where the file names none.
    """

    row: int
    line: int
    item: tuple[str, ...]
    cluster: str
    rater: str
    value: float
    notes: str

    @property
    def item_hash(self) -> str:
        return hash_foreign_text(SEPARATOR.join(self.item))

    @property
    def cluster_hash(self) -> str:
        return hash_foreign_text(self.cluster)


def hash_foreign_text(text: str) -> str:
    return sha256(text.encode()).hexdigest()


class BadCell(ValueError):
    """One line can't be taken; the text says why."""


def read_foreign_labels(stream: BinaryIO, form: Format) -> list[ForeignLabel]:
    """The file's labels in its order. Raises NotImported with every problem (at most 20)."""
    needed, taken = COLUMNS[form]
    found: list[ForeignLabel] = []
    problems: list[str] = []
    for line, cells in parse_label_rows(decode_label_file(stream), needed, problems):
        try:
            found.append(taken(len(found) + 1, line, cells))
        except BadCell as why:
            problems.append(f"line {line}: {why}")
        if len(found) > MOST_ROWS:
            problems.append(f"more than {MOST_ROWS:,} labels; split the file")
        if len(problems) > MOST_PROBLEMS or len(found) > MOST_ROWS:
            break
    problems += [] if problems else find_label_set_problems(found)
    if problems:
        raise NotImported(*shorten_problem_list(problems))
    return found


def shorten_problem_list(problems: list[str]) -> list[str]:
    """The first ones, and that there are more."""
    kept = [mark_hostile_characters(problem) for problem in problems[:MOST_PROBLEMS]]
    return [*kept, "… and more"] if len(problems) > MOST_PROBLEMS else kept


def decode_label_file(stream: BinaryIO) -> str:
    """The file as text. Raises NotImported where it is too large, or neither UTF-8 nor UTF-16."""
    content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise NotImported(f"more than {MOST_BYTES // 1_000_000} MB; split the file")
    try:
        return content.decode(encoding_of(content[:4])).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise NotImported(f"line {line}: this is not UTF-8; save the file as UTF-8") from error


def parse_label_rows(text: str, needed: tuple[str, ...], problems: list[str]) -> Iterator[tuple[int, Cells]]:
    """Each line that has as many cells as the header, with its number; what is wrong goes to `problems`."""
    header: list[str] | None = None
    for read in read_table_cells(lines_of_text(text), ""):
        row = read if isinstance(read, Problem) or header is None else name_cells(header, *read, "")
        if isinstance(row, Problem):
            problems.append(f"line {row.record}: {row.message}")
        elif isinstance(row[1], dict):
            yield row[0], row[1]
        else:
            header = [cell.strip() for cell in row[1]]
            if why := why_no_header(header, needed):
                problems.append(f"line {row[0]}: {why}")
                return
        if len(problems) > MOST_PROBLEMS:
            return
    if header is None and not problems:
        problems.append(f"line 1: {why_no_header([], needed)}")


def why_no_header(header: list[str], needed: tuple[str, ...]) -> str:
    """Why the first line is not that of such a file; mostly empty."""
    if missing := [name for name in needed if name not in header]:
        named = ", ".join(header)[:200] or "nothing"
        return NO_HEADER.format(", ".join(needed), ", ".join(missing), named)
    return named_twice(header)


def find_label_set_problems(found: list[ForeignLabel]) -> list[str]:
    """What is wrong with the labels taken together."""
    if not found:
        return ["there is no label in it"]
    values = {label.value for label in found}
    if len(values) > MOST_VALUES:
        return [f"{len(values):,} different labels; a scale has at most {MOST_VALUES}"]
    return list(find_repeated_judgments(found))[: MOST_PROBLEMS + 1]


def find_repeated_judgments(found: Iterable[ForeignLabel]) -> Iterator[str]:
    """Where a rater judges an item again: which label should count?"""
    seen: dict[tuple[str, str], int] = {}
    for label in found:
        if not label.rater:
            continue
        first = seen.setdefault((label.item_hash, label.rater), label.line)
        if first != label.line:
            yield f"line {label.line}: {label.rater!r} has judged this item already, in line {first}"


def codesearchnet_label(row: int, line: int, cells: Cells) -> ForeignLabel:
    """Language, Query, GitHubUrl, Relevance and perhaps Notes; without raters."""
    relevance = cells["Relevance"].strip()
    if relevance not in RELEVANCE:
        raise BadCell(f"Relevance is 0, 1, 2 or 3, found {relevance[:40]!r}")
    item = tuple(require_filled_cell(cells, name) for name in ("Language", "Query", "GitHubUrl"))
    return ForeignLabel(row, line, item, item[1], "", float(relevance), read_optional_cell(cells, "Notes"))


def plain_label(row: int, line: int, cells: Cells) -> ForeignLabel:
    """item, label and perhaps rater, query and notes; without a query each item is its own."""
    item = require_filled_cell(cells, "item")
    # A column that is there names every rater: an empty cell would make its label nobody's by an oversight.
    rater = require_filled_cell(cells, "rater") if "rater" in cells else ""
    if len(rater) > LONGEST_RATER:
        raise BadCell(f"a rater's name has at most {LONGEST_RATER} characters")
    value = parse_label_number(cells["label"].strip())
    query = require_filled_cell(cells, "query") if "query" in cells else item
    return ForeignLabel(row, line, (item,), query, rater, value, read_optional_cell(cells, "notes"))


def require_filled_cell(cells: Cells, name: str) -> str:
    found = read_optional_cell(cells, name)
    if not found:
        raise BadCell(f"{name} is empty")
    return found


def read_optional_cell(cells: Cells, name: str) -> str:
    found = cells.get(name, "").strip()
    if len(found) > LONGEST:
        raise BadCell(f"{name} has more than {LONGEST:,} characters")
    return mark_hostile_characters(found)


def parse_label_number(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found) or abs(found) > 1e6:
        raise BadCell(f"a label is a number, found {text[:40]!r}")
    return found


COLUMNS: Final[Mapping[Format, tuple[tuple[str, ...], Callable[[int, int, Cells], ForeignLabel]]]] = {
    Format.CODESEARCHNET: (("Language", "Query", "GitHubUrl", "Relevance"), codesearchnet_label),
    Format.CSV: (("item", "label"), plain_label),
}
