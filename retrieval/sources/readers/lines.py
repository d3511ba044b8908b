"""Lines and CSV rows of a text file, in constant memory, where one bad line spoils the whole.

Imports keep what they can read of a file; figures computed from half a file would be wrong without a word, so
here the first bad line ends the reading. A packed file is known by its first bytes, whatever it is called.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, count
from pathlib import Path
from typing import Final

from retrieval.sources.readers.compression import PACKED_AT_MOST, UNREADABLE, open_text, why_unread

SEPARATORS: Final = (",", ";", "\t")
LINE_LIMIT = 65_536
"""Characters in one line; a longer one is a damaged file or none of this kind."""
CELL_LIMIT = 4 * 2**20
"""Characters in one cell of a table: as many as a record of JSON may have."""

BAD_BYTES = re.compile("[\udc80-\udcff]")
LINE_ENDS = re.compile(r'"|\r\n?|\n')
TOLD_SEPARATOR = re.compile(r'"?sep=([^\w\s"]|\t)"?[,;\s]*', re.IGNORECASE)
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
SHOWN = 40


class Malformed(ValueError):
    """A file or one of its lines cannot be read. `line` counts from 1; 0 means the whole file."""

    def __init__(self, file: Path, line: int, message: str) -> None:
        super().__init__(f"{file}, line {line}: {message}" if line else f"{file}: {message}")
        self.file = file
        self.line = line
        self.message = message


def read_numbered_lines(path: Path, limit: int = LINE_LIMIT) -> Iterator[tuple[int, str]]:
    """Yield (number from 1, line with its end) of a UTF-8 file; a mark of byte order is passed over.

    Raises `Malformed` for a file that cannot be opened or unpacked, a line above `limit` characters and other
    bytes.
    """
    try:
        with open_text(path) as (stream, most, _):
            for number in count(1):
                line = stream.readline(limit + 1)
                most -= len(line)
                if not line:
                    return
                if most < 0:
                    raise Malformed(path, number, f"unpacks to over {PACKED_AT_MOST} times its size")
                if len(line) > limit:
                    raise Malformed(path, number, f"is longer than {limit:,} characters")
                if BAD_BYTES.search(line):
                    raise Malformed(path, number, "has bytes that are not UTF-8; convert the file to UTF-8")
                yield number, line
    except Malformed:
        raise
    except UNREADABLE as error:
        raise Malformed(path, 0, f"cannot be read: {why_unread(error)}") from error


def find_separator(header: str, usual: str = ",") -> str:
    """What separates the columns of a table: of comma, semicolon and tab the one that gives most names.

    >>> find_separator("question;answer, in short;judged"), find_separator("query")
    (';', ',')
    """

    return max((usual, *SEPARATORS), key=lambda separator: len(split_header(header, separator)))


def split_header(header: str, separator: str) -> list[str]:
    """The names in a header's line; none where it can't be read. The last one may go on in the next line."""
    csv.field_size_limit(CELL_LIMIT)
    try:
        return next(csv.reader([header], delimiter=separator), [])
    except csv.Error:
        return []


def line_end_of_table(beginning: str) -> str:
    r"""What ends the lines of a table, by its first characters: a line feed, or `\r` alone.

    >>> [line_end_of_table(text) for text in ("a,b\r1,2\r", "a,b\r\n1,2\r\n", '"a\rb",c\n')]
    ['\r', '\n', '\n']
    """
    is_quoted = False
    for found in LINE_ENDS.finditer(beginning):
        if found[0] == '"':
            is_quoted = not is_quoted
        elif not is_quoted:
            return "\r" if found[0] == "\r" else "\n"
    return "\n"


def told_separator(line: str) -> str:
    """What a line says that separates the columns, as Excel's first one may; empty where it is no such line.

    >>> told_separator("sep=;"), told_separator('"SEP=|",,'), told_separator("sepal;petal")
    (';', '|', '')
    """
    found = TOLD_SEPARATOR.fullmatch(line)
    return found[1] if found else ""


def open_csv(lines: Iterable[str], separator: str) -> Iterator[list[str]]:
    """The rows of a table, each with all of its cells. Raises `csv.Error`, which `say_csv_error` tells."""
    csv.field_size_limit(CELL_LIMIT)  # for the whole process, as the library has it; nobody needs another one
    return csv.reader(lines, delimiter=separator, strict=True)


def say_csv_error(error: csv.Error) -> str:
    """What is wrong with a row of a table, in words."""
    if "field limit" in str(error):
        return (
            f"has a cell of more than {CELL_LIMIT:,} characters: shorten it, or close its quotes, if it is "
            "not meant to be so long"
        )
    if "new-line character" in str(error):
        return (
            "has a line end in a cell without quotes: put the cell in quotes, or save the table again, "
            "so that all its rows end alike"
        )
    if "unexpected end" in str(error):
        return "is not CSV: the quotes that begin a cell are closed nowhere"
    if "expected after" in str(error):
        return "is not CSV: text follows the quotes that end a cell; write quotes within a cell twice"
    return f"is not CSV: {error}"


def first_line_of(path: Path, numbered: Iterator[tuple[int, str]]) -> tuple[int, str]:
    """The first line that is not blank and does more than tell the separator; (0, "") where there is none.

    Raises `Malformed` where another separator is told than those that are known.
    """
    for line, text in numbered:
        if told := told_separator(text):
            if told not in SEPARATORS:
                why = f"{clip_text(told)} separates the columns: save it with commas, semicolons or tabs"
                raise Malformed(path, line, why)
        elif text.strip():
            return line, text
    return 0, ""


def csv_rows(path: Path, numbered: Iterable[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield (number of its last line, fields) of each CSV row that is not blank. Raises `Malformed`."""
    last, waiting = 0, iter(numbered)
    header = first_line_of(path, waiting)

    def texts() -> Iterator[str]:
        nonlocal last
        for last, line in chain([header], waiting):  # noqa: B007 -- read below, when the row is complete
            yield line

    try:
        for row in open_csv(texts(), find_separator(header[1])):
            if any(field.strip() for field in row):
                yield last, row
    except csv.Error as error:
        raise Malformed(path, last, say_csv_error(error)) from error


def named_twice(header: Iterable[str]) -> str:
    """What is said of a header that names a column twice; empty for one that doesn't.

    >>> named_twice(["query", "label", "label"])
    "the header names the column 'label' twice: rename or remove one"
    """
    twice = next((name for name, times in Counter(header).items() if name and times > 1), "")
    return f"the header names the column {clip_text(twice)} twice: rename or remove one" if twice else ""


def parse_finite_number(written: str, path: Path, line: int, what: str, largest: float = math.inf) -> float:
    """The finite number that is written, in [-largest, largest]. Raises `Malformed`, which names `what`."""
    value = float(written) if NUMBER.fullmatch(written) else math.nan
    if not (math.isfinite(value) and abs(value) <= largest):
        bounds = "" if largest == math.inf else f" from {-largest:g} to {largest:g}"
        raise Malformed(path, line, f"expected a number{bounds} as {what}, found {clip_text(written)}")
    return value


def clip_text(text: str) -> str:
    """A text of any length as it stands in a message."""
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")
