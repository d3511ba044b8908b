"""The screener's requests as a table that a person fills in: a row a pair, in any spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import BinaryIO, Final, TextIO

from annotation.llm.exchange import ExchangeProblem, ReplyLine
from retrieval.sources.readers.lines import find_separator, open_csv, say_csv_error, split_header
from retrieval.texts.spreadsheets import LONGEST_CELL, escape_formula_cell

COLUMNS: Final = ("id", "query", "code", "verdict", "explanation")
NEEDED: Final = ("id", "verdict", "explanation")
TOO_LONG: Final = "(too long for a sheet: it is in the file of requests, or answer it on the page)"
VERDICTS: Final[Mapping[str, float]] = MappingProxyType(
    {"1": 1, "match": 1, "0": 0, "no match": 0, "0.5": 0.5, "unclear": 0.5}
)
"""What a cell may say, and the screener's verdict."""
NAMES: Final = ", ".join(VERDICTS)
_ID: Final = re.compile(r"[0-9a-f]{64}")
_HEAD_BYTES: Final = 4096


def write_sheet(stream: BinaryIO, rows: Iterable[tuple[str, str, str]]) -> int:
    """Write (id, query, code) of each request, with room for the answer; returns how many there were.

    The mark at the beginning tells Excel that the text is UTF-8.
    """
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="", write_through=True)
    table, written = csv.writer(text), 0
    table.writerow(COLUMNS)
    for row in rows:
        table.writerow([*map(as_cell, row), "", ""])
        written += 1
    text.detach()
    return written


def as_cell(text: str) -> object:
    """The text as a spreadsheet shows it whole and runs nothing of it."""
    return TOO_LONG if len(text) >= LONGEST_CELL else escape_formula_cell(text)


def is_sheet(stream: BinaryIO) -> bool:
    """Whether a file begins as such a table does; it is then read from its beginning."""
    head = stream.read(_HEAD_BYTES).decode("utf-8-sig", "replace")
    stream.seek(0)
    line = head.partition("\n")[0].strip()
    return not line.startswith(("{", "[")) and {"id", "verdict"} <= set(find_columns(line))


def find_columns(line: str) -> list[str]:
    """The names of a header, in small letters."""
    return [cell.strip().lower() for cell in split_header(line, find_separator(line))]


def read_sheet(stream: BinaryIO) -> Iterator[ReplyLine | ExchangeProblem]:
    """The rows that are filled in, as replies, good and bad; those without a verdict are left out.

    A row's number is that of its first line in the file, as an editor counts.
    """
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
    try:
        yield from read_rows(text)
    finally:
        text.detach()


def read_rows(text: TextIO) -> Iterator[ReplyLine | ExchangeProblem]:
    """The same of a table whose header comes next."""
    header = text.readline()
    columns, first_lines = find_columns(header.strip()), dict[str, int]()
    if missing := [name for name in NEEDED if name not in columns]:
        yield ExchangeProblem(1, f"the header has no column {', '.join(missing)}")
        return
    for number, cells in number_rows(text, find_separator(header)):
        if isinstance(cells, ExchangeProblem):
            yield cells
            continue
        row = dict(zip(columns, (cell.strip() for cell in cells), strict=False))
        if found := read_row(number, row, first_lines):
            yield found


def number_rows(text: Iterable[str], separator: str) -> Iterator[tuple[int, list[str] | ExchangeProblem]]:
    """The rows below the header, each with the number of its first line; a broken one as a problem."""
    table, number = open_csv(iter(text), separator), 2
    while True:
        try:
            cells = next(table, None)
        except csv.Error as error:
            yield number, ExchangeProblem(number, say_csv_error(error))
        else:
            if cells is None:
                return
            yield number, cells
        number = table.line_num + 2  # type: ignore[attr-defined]  # of the library's reader


def read_row(
    number: int, row: Mapping[str, str], first_lines: dict[str, int]
) -> ReplyLine | ExchangeProblem | None:
    """The answer of a row; None where it is not filled in."""
    id_, said, why = row.get("id", ""), row.get("verdict", ""), row.get("explanation", "")
    if not said and not why:
        return None
    if not _ID.fullmatch(id_):
        return ExchangeProblem(number, "its id is not that of a request: leave that column as it was")
    if "\ufffd" in why:
        return ExchangeProblem(number, "is not UTF-8: save the table as “CSV UTF-8”")
    verdict = VERDICTS.get(said.lower().replace(",", "."))
    if verdict is None:
        return ExchangeProblem(number, f"the verdict has to be one of {NAMES}; it is {said[:40]!r}")
    if first := first_lines.get(id_):
        return ExchangeProblem(number, f"a second answer to the row of line {first}, which counts")
    first_lines[id_] = number
    reply = json.dumps({"explanation": why, "verdict": verdict}, ensure_ascii=False)
    return ReplyLine(number, 0, id_, reply, row.get("model", ""), None)
