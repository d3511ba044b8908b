"""Records of JSON Lines, CSV and TSV files, also packed, in constant memory; a bad one is told and skipped.

`retrieval.sources.readers.lines` is for figures, which half a file would spoil; here
what is readable is kept.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from retrieval.sources import Problem
from retrieval.sources.readers.compression import (
    PACKED,
    PACKED_AT_MOST,
    UNREADABLE,
    Opened,
    open_text,
    why_unread,
    without_packing,
)
from retrieval.sources.readers.json_stream import (
    DECODER,
    RECORD_LIMIT,
    KeyTwice,
    stream_json_elements,
)
from retrieval.sources.readers.lines import clip_text, line_end_of_table
from retrieval.sources.readers.table_rows import BadLine, read_table_rows
from retrieval.texts.hostile import mark_hostile_characters

BAD_BYTES = re.compile("[\udc80-\udcff]")
WHOLE = re.compile(r"(?<=\d)\.0+$")
NUMBER = re.compile(r"[+-]?[0-9]{1,6}")
ROW_NUMBER = "row numbers"
LONGEST_ID = 300
"""Characters; two longer ones could differ only behind what is stored."""
EXACT_FLOAT = 2**53
"""From here on a float stands for several whole numbers."""
SEPARATORS = {".csv": ",", ".tsv": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
PLAIN_TEXT = ".txt"
ARRAY = re.compile(r"\s*\[\s*[{\]]")
OBJECT = re.compile(r"\s*\{")
CHUNK = 4_096

Object: TypeAlias = dict[str, Any]


class Refused(ValueError):
    """A record is not what its format says; the message tells what was expected."""


def kind_of(path: Path) -> str:
    """The suffix that tells a file's format, in lower case, without `.gz` and its like."""
    return Path(without_packing(path.name)).suffix.lower()


def read_record_objects(path: Path) -> Iterator[tuple[int, Object] | Problem]:
    """Yield (number from 1, record) of a JSON Lines, JSON, CSV, TSV or text file, told by its name's end."""
    kind = kind_of(path)
    if kind in SEPARATORS:
        lines = lines_of(path, end=line_end_of_table)
        yield from read_table_rows(lines, str(path), SEPARATORS[kind], kind[1:].upper())
    elif kind in JSON_LINES:
        yield from _json_lines(path)
    elif kind == ".json":
        yield from _array(path)
    elif kind == PLAIN_TEXT:
        yield from _plain_queries(path)
    else:
        known = ", ".join([*JSON_LINES, ".json", *SEPARATORS, PLAIN_TEXT])
        packed = ", ".join(PACKED)
        why = f"its name must end in one of {known}, also packed ({packed})"
        yield Problem(str(path), 0, why, costs_labels=True)


def _plain_queries(path: Path) -> Iterator[tuple[int, Object] | Problem]:
    """A query a line; blank lines are skipped."""
    for line in lines_of(path):
        if isinstance(line, Problem):
            yield line
        elif text := line[1].strip():
            yield line[0], {"query": text}


def text_of_record(record: Object, keys: Sequence[str], needed: bool = True) -> str:
    """The text under the first of `keys` that the record has; with `needed` not blank. Raises `Refused`."""
    key = next((key for key in keys if record.get(key) is not None), None)
    if key is None:
        if not needed:
            return ""
        raise Refused(_lacks(record, keys))
    value = record[key]
    if not isinstance(value, str) or (needed and not value.strip()):
        raise Refused(f'"{key}" must be a text that is not empty, found {clip_text(str(value))}')
    return value


def _lacks(record: Object, keys: Sequence[str]) -> str:
    """Why a record has no text under `keys`: it has others, or a null."""
    wanted = " or ".join(f'"{key}"' for key in keys)
    if nulls := [f'"{key}"' for key in keys if key in record]:
        return f"has no text: {' and '.join(nulls)} {'is' if len(nulls) == 1 else 'are'} null"
    has = ", ".join(f'"{name}"' for name in list(record)[:8]) or "nothing"
    return f"has no {wanted}; it has {has}"


def id_of_record(record: Object, keys: Sequence[str]) -> str:
    """The record's id: the value of the first of `keys` that can be one.

    That is a text of at most LONGEST_ID characters that is not blank, a whole number, or MongoDB's
    `{"$oid": …}`. `7.0` and the decimal 7 are 7: so data frames write a column in which a number is missing.
    Raises `Refused`: a record that was called by its number could be taken for another one.
    """
    return read_id(record, keys)[0]


def read_id(record: Object, keys: Sequence[str]) -> tuple[str, str]:
    """The same, and the key under which it stands. Raises `Refused`."""
    there = [key for key in keys if key in record]
    found = next(((name, key) for key in there if (name := _name(record[key]))), None)
    if found is None:
        raise Refused(lacks_id(record, keys))
    if len(found[0]) > LONGEST_ID:
        raise Refused(f'"{found[1]}" is longer than {LONGEST_ID} characters: {clip_text(found[0])}')
    return found


class IdsOfFile:
    """Ids of a file whose labels stand beside both texts: it may have none, as its first record says."""

    def __init__(self) -> None:
        self.are_there: bool | None = None

    def read(self, number: int, record: Object, keys: Sequence[str]) -> tuple[str, str]:
        """The record's id, and its key; in a file without ids its number, from 0. Raises `Refused`."""
        has = has_any(record, keys)
        if self.are_there is None:
            self.are_there = has
        if self.are_there:
            return read_id(record, keys)
        if has:
            name = clip_text(read_id(record, keys)[0])
            raise Refused(f"has the id {name}, but the first record has none; give every record one")
        return str(number - 1), ROW_NUMBER


def name_of_record(record: Object, keys: Sequence[str], otherwise: object) -> str:
    """The text or number under the first of `keys` that has one, read as `id_of_record` does."""
    there = [key for key in keys if key in record]
    return next((name for key in there if (name := _name(record[key]))), str(otherwise))


def has_any(record: Object, keys: Sequence[str]) -> bool:
    """Whether one of `keys` has a value; a null is none."""
    return any(record[key] is not None for key in keys if key in record)


def _name(value: object) -> str:
    """A value as a name; empty for one that can't be any."""
    if value is None:
        return ""
    if isinstance(value, dict) and list(value) == ["$oid"]:
        value = value["$oid"]
    if isinstance(value, str):
        return mark_hostile_characters(value) if value.strip() else ""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return ""
    if isinstance(value, float) and abs(value) >= EXACT_FLOAT:
        return ""
    is_whole = math.isfinite(value) and value == int(value)
    return str(int(value)) if is_whole else ""


def lacks_id(record: Object, keys: Sequence[str]) -> str:
    """Why a record has no id under `keys`."""
    wanted = ", ".join(f'"{key}"' for key in keys[:3]) + (" or the like" if len(keys) > 3 else "")
    if unread := [key for key in keys if record.get(key) is not None]:
        found = clip_text(str(record[unread[0]]))
        value = record[unread[0]]
        if isinstance(value, float) and EXACT_FLOAT <= abs(value) < math.inf:
            large = "a number with a point so large that its whole number is not known; give it as a text"
            return f'"{unread[0]}" is {found}: it is {large}'
        return f'"{unread[0]}" is {found}, which is no id; expected a text or a whole number'
    has = ", ".join(f'"{name}"' for name in list(record)[:8]) or "nothing"
    return f"has no id ({wanted}); it has {has}"


def whole_number(written: object, allowed: range, what: str) -> int:
    """A number of `allowed`, written as itself or as text. Raises `Refused`, which names `what`.

    `1.0` is 1: so data frames write a column in which a number is missing.
    """
    text = WHOLE.sub("", str(written).strip())
    found = int(text) if NUMBER.fullmatch(text) else None
    if found is None or found not in allowed or isinstance(written, bool):
        expected = f"{allowed[0]} to {allowed[-1]}" if len(allowed) > 2 else " or ".join(map(str, allowed))
        expected = f"a whole number from {expected}" if allowed[0] < 0 else expected
        raise Refused(f"{what} is {clip_text(str(written))}; expected {expected}")
    return found


def lines_of(
    path: Path, limit: int = RECORD_LIMIT, end: str | Callable[[str], str] = "\n"
) -> Iterator[tuple[int, str] | Problem]:
    """Yield (number from 1, line) of a file of text, packed or not; lines that cannot be read are told.

    `end` is what ends a line, or tells that of the file's first characters.
    """
    try:
        with open_text(path, end) as opened:
            yield from _lines(opened, path, limit)
    except UNREADABLE as error:
        why = f"cannot be read to its end: {why_unread(error)}"
        yield Problem(str(path), 0, why, costs_labels=True)


def _lines(opened: Opened, path: Path, limit: int) -> Iterator[tuple[int, str] | Problem]:
    (stream, left, end), file = opened, str(path)
    for number in count(1):
        line = stream.readline(limit + 1)
        left -= len(line)
        if not line:
            return
        if left < 0:
            why = f"unpacks to over {PACKED_AT_MOST} times its size: what is left is not read"
            yield Problem(file, number, why, costs_labels=True)
            return
        if len(line) > limit:
            yield Problem(file, number, f"is longer than {limit:,} characters and is skipped")
            while line and not line.endswith(end) and left >= 0:
                line = stream.readline(limit)
                left -= len(line)
        elif BAD_BYTES.search(line):
            why = "has bytes that are not UTF-8; convert the file to UTF-8"
            yield BadLine(file, number, why, not line.endswith(end), text=line)
        else:
            yield number, line


def _json_lines(path: Path) -> Iterator[tuple[int, Object] | Problem]:
    if _is_array(path):
        yield from _array(path)
        return
    for line in lines_of(path):
        if isinstance(line, Problem):
            yield line
        elif line[1].strip():
            yield _object(line[1], str(path), line[0])


def is_json_object(path: Path) -> bool:
    """Whether a file of JSON is one object, not an array."""
    return _begins_with(path, OBJECT)


def _is_array(path: Path) -> bool:
    """Whether a file of JSON Lines is one array of objects."""
    return _begins_with(path, ARRAY)


def _begins_with(path: Path, pattern: re.Pattern[str]) -> bool:
    """Whether a file's text does; False for a pipe, which can be read only once."""
    if not path.is_file():
        return False
    try:
        with open_text(path) as (stream, *_):
            return pattern.match(stream.read(CHUNK)) is not None
    except UNREADABLE:
        return False


def _object(line: str, file: str, number: int) -> tuple[int, Object] | Problem:
    try:
        value = DECODER.decode(line)
    except KeyTwice as twice:
        return Problem(file, number, str(twice))
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error) or "nested too deeply"
        is_cut = not line.endswith("\n")  # the last line of a file that ends within it
        return Problem(file, number, f"is not JSON: {reason}", costs_labels=is_cut)
    if not isinstance(value, dict):
        return Problem(file, number, f"expected an object, found {clip_text(str(value))}")
    return number, value


def _array(path: Path) -> Iterator[tuple[int, Object] | Problem]:
    for element in stream_json_elements(path):
        if isinstance(element, Problem):
            yield element
        elif isinstance(element.value, dict):
            yield element.number, element.value
        else:
            message = f"expected an object, found {clip_text(str(element.value))}"
            yield Problem(str(path), element.number, message)
