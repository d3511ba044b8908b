"""Rows of CSV and TSV, of a file or of a text that is at hand; a bad one is told and skipped.

The columns may be separated by commas, semicolons or tabs, whatever the table is called, and Excel's first
line may tell by what (`sep=;`). Rows end in a line feed, or in a carriage return alone.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from retrieval.sources import Problem
from retrieval.sources.readers.compression import PEEKED
from retrieval.sources.readers.lines import (
    CELL_LIMIT,
    find_separator,
    line_end_of_table,
    named_twice,
    open_csv,
    say_csv_error,
    told_separator,
)

Line: TypeAlias = tuple[int, str] | Problem
Row: TypeAlias = dict[str, str]


@dataclass(frozen=True, slots=True)
class BadLine(Problem):
    """A line with bytes that are no text: a row of a table that has it ends where it would have ended."""

    text: str = ""


def lines_of_text(text: str) -> Iterator[Line]:
    """Yield (number from 1, line with its end) of a table; a mark of byte order is passed over."""
    end = line_end_of_table(text[:PEEKED])
    lines = re.finditer(rf"[^{end}]*{end}|[^{end}]+", text.removeprefix("\ufeff"))
    return ((number, line[0]) for number, line in enumerate(lines, 1))


def read_table_cells(
    given: Iterator[Line], file: str, separator: str = ",", kind: str = "CSV"
) -> Iterator[tuple[int, list[str]] | Problem]:
    """Yield (number of its last line, cells) of each row that is not blank, the header first.

    `separator` is the one of two that are as likely, `kind` what people call such a table.
    """
    lines, is_first = _Lines(given), True
    rows = open_csv(lines, lines.find_separator(separator))
    while (row := _row(rows, lines, file, kind)) is not None:
        yield from lines.problems
        if lines.problems:
            continue  # without one of its lines it would be another row
        if row and (is_first or any(cell.strip() for cell in row)):
            is_first = False
            yield lines.last, row


def read_table_rows(
    given: Iterator[Line], file: str, separator: str = ",", kind: str = "CSV"
) -> Iterator[tuple[int, Row] | Problem]:
    """Yield the rows below the header as objects by its names, with the numbers of their last lines.

    Of a column that the header names twice nobody knows which is meant: such a table has no rows.
    """
    header = list[str]()
    for read in read_table_cells(given, file, separator, kind):
        if isinstance(read, Problem):
            yield read
        elif header:
            yield name_cells(header, *read, file)
        else:
            header = [name.strip() for name in read[1]]
            if why := named_twice(header):
                yield Problem(file, read[0], why, costs_labels=True)
                return


def name_cells(header: list[str], line: int, cells: list[str], file: str) -> tuple[int, Row] | Problem:
    """The row of a line as an object by the header's names."""
    if len(cells) != len(header):
        return Problem(file, line, f"expected {len(header)} columns as in the header, found {len(cells)}")
    return line, dict(zip(header, cells, strict=True))


def _row(rows: Iterator[list[str]], lines: _Lines, file: str, kind: str) -> list[str] | None:
    """The next row, None behind the last; what is wrong with it is among the problems of its lines."""
    lines.begin()
    try:
        return next(rows, None)
    except csv.Error as error:
        why = say_csv_error(error).replace("CSV", kind)
        lines.problems.append(Problem(file, lines.last, why, "unexpected end" in str(error)))
        if "field limit" in str(error):
            lines.pass_over()
        return []


class _Lines:
    """The lines of a table, for the reader of CSV, which takes as many as a row has.

    `problems` are those of the row at hand, `last` is the number of its last line.
    """

    def __init__(self, lines: Iterator[Line]) -> None:
        self.lines = lines
        self.problems = list[Problem]()
        self.last = self.quotes = 0

    def find_separator(self, usual: str) -> str:
        """What separates the columns, by the first line that is not blank; it is passed over if it tells that
        alone.
        """
        for line in self.lines:
            if isinstance(line, Problem) or line[1].strip():
                if not isinstance(line, Problem) and (told := told_separator(line[1])):
                    return told
                self.lines = chain([line], self.lines)
                return usual if isinstance(line, Problem) else find_separator(line[1], usual)
        return usual

    def begin(self) -> None:
        """What comes is another row."""
        self.problems.clear()
        self.quotes = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self.lines)
        if isinstance(line, Problem):
            self.problems.append(line)
            text = line.text if isinstance(line, BadLine) else ""
        else:
            self.last, text = line
        self.quotes += text.count('"')
        return text

    def pass_over(self) -> None:
        """Go on to the end of a cell that is too long, or its lines would be taken for rows."""
        left = CELL_LIMIT
        while self.quotes % 2 and left > 0 and (line := next(self, None)) is not None:
            left -= len(line)
