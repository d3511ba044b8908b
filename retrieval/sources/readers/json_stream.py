"""Read a JSON array or object of any length element by element, in constant memory.

An element that is broken or too long is told by its number and skipped; those after it are still read.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from retrieval.sources import Problem
from retrieval.sources.readers.compression import PACKED_AT_MOST, UNREADABLE, open_text, why_unread
from retrieval.sources.readers.lines import clip_text

RECORD_LIMIT = 4 * 2**20
"""Characters in one element; a function or query that is longer is a damaged file."""

CHUNK = 2**18
STRUCTURE = re.compile(r"\\.|[\"\[\]{},\\]", re.DOTALL)
WHITE_SPACE = re.compile(r"[ \t\r\n]*")
BAD_BYTES = re.compile("[\udc80-\udcff]")


class KeyTwice(ValueError):
    """An object has a key twice: of two values nobody knows which is meant; the message says so."""


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = Counter(key for key, _ in pairs)
        raise KeyTwice(f"has the key {clip_text(keys.most_common(1)[0][0])} twice: remove one")
    return found


DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_object_of)
"""Not strict: tabs and line ends inside strings are common and harmless."""
LONGEST_TOKEN = len("\\ud800\\udc00-Infinity")


@dataclass(frozen=True, slots=True)
class Element:
    """One element: its number from 1, its key (None in an array) and its value."""

    number: int
    key: str | None
    value: Any


class _Broken(Exception):
    """The element at hand cannot be read; the message says why."""


def stream_json_elements(path: Path, limit: int = RECORD_LIMIT) -> Iterator[Element | Problem]:
    """Yield the elements of the array or object in a file, and a `Problem` for each unreadable one."""
    try:
        with open_text(path) as (stream, most, _):
            yield from _Reader(stream, str(path), limit, most).elements()
    except UNREADABLE as error:
        yield Problem(str(path), 0, f"cannot be read: {why_unread(error)}", costs_labels=True)


class _Reader:
    """A window on the file that always starts at the next thing to read."""

    def __init__(self, stream: TextIO, file: str, limit: int, most: float) -> None:
        self.stream = stream
        self.left = most
        self.file = file
        self.limit = limit
        self.window = ""
        self.place = 0
        self.ended = False

    def elements(self) -> Iterator[Element | Problem]:
        opening = self.peek()
        if opening not in ("[", "{"):
            why = f"expected a JSON array or object of UTF-8 text, found {self.shown()}"
            yield Problem(self.file, 0, why, costs_labels=True)
            return
        self.place += 1
        closing = "]" if opening == "[" else "}"
        if self.peek() == closing:
            self.place += 1
            yield from self.leftover()
        else:
            yield from self.until(closing)

    def until(self, closing: str) -> Iterator[Element | Problem]:
        number, separator = 0, ","
        while separator == ",":
            number += 1
            try:
                key, value = self.entry() if closing == "}" else (None, self.value())
                separator = self.peek()
                if separator not in (",", closing, ""):
                    raise _Broken(f"expected , or {closing} after the record, found {self.shown()}")
                yield Element(number, key, value)
            except _Broken as broken:
                yield Problem(self.file, number, str(broken))
                separator = self.skip()
            self.place += 1
        if separator == closing:
            yield from self.leftover()
        else:
            why = "nothing after this record can be read; is the file cut off?"
            yield Problem(self.file, number, why, costs_labels=True)

    def leftover(self) -> Iterator[Problem]:
        if self.peek():
            found = f"text after the end of the JSON is not read: {self.shown()}"
            why = f"{found}; make JSON Lines one array: jq --slurp . FILE"
            yield Problem(self.file, 0, why, costs_labels=True)

    def entry(self) -> tuple[str, Any]:
        key = self.value()
        if not isinstance(key, str):
            raise _Broken("expected a string as key")
        if self.peek() != ":":
            raise _Broken(f"expected : after the key, found {self.shown()}")
        self.place += 1
        return key, self.value()

    def value(self) -> Any:
        """Decode the next value, reading on while it is incomplete."""
        self.peek()
        while True:
            try:
                value, end = DECODER.raw_decode(self.window, self.place)
            except RecursionError as error:
                raise _Broken("nested too deeply") from error
            except ValueError as error:
                self.read_on_or_fail(error)
                continue
            near_the_edge = len(self.window) - end < LONGEST_TOKEN
            if near_the_edge and isinstance(value, int | float) and self.more():
                continue  # a number may go on in the next chunk
            return self.checked(value, end)

    def checked(self, value: Any, end: int) -> Any:
        if BAD_BYTES.search(self.window, self.place, end):
            self.place = end
            raise _Broken("has bytes that are not UTF-8; convert the file to UTF-8")
        if end - self.place > self.limit:
            self.place = end
            raise _Broken(f"is longer than {self.limit:,} characters and is skipped")
        self.place = end
        return value

    def read_on_or_fail(self, error: ValueError) -> None:
        if len(self.window) - self.place > self.limit:
            raise _Broken(f"is longer than {self.limit:,} characters and is skipped") from error
        if isinstance(error, KeyTwice):
            raise _Broken(str(error)) from error
        if not _may_be_incomplete(error, len(self.window)) or not self.more():
            raise _Broken(f"is not JSON: {_reason(error, self.place)}") from error

    def skip(self) -> str:
        """Pass over the rest of a broken element; return what stands after it, empty at the end of file."""
        depth, quoted = 0, False
        while True:
            for found in STRUCTURE.finditer(self.window, self.place):
                self.place = found.start()
                mark = found[0]
                if mark == "\\":
                    break  # its other half is in the next chunk
                if mark == '"':
                    quoted = not quoted
                elif not quoted and mark in "[{":
                    depth += 1
                elif not quoted and depth == 0 and mark in ",]}":
                    return mark
                elif not quoted and mark in "]}":
                    depth -= 1
                self.place = found.end()
            else:
                self.place = len(self.window)
            if not self.more():
                return ""

    def peek(self) -> str:
        """Return the next character that is not white space without passing it; empty at the end of file."""
        while True:
            match = WHITE_SPACE.match(self.window, self.place)
            self.place = match.end() if match else self.place
            if self.place < len(self.window) or not self.more():
                return self.window[self.place : self.place + 1]

    def more(self) -> bool:
        """Read a chunk, as long as what is at hand so that decoding again stays linear; False at the end."""
        waiting = len(self.window) - self.place
        chunk = "" if self.ended else self.stream.read(max(CHUNK, waiting))
        self.left -= len(chunk)
        if self.left < 0:
            raise ValueError(f"it unpacks to over {PACKED_AT_MOST} times its size")
        if not chunk:
            self.ended = True
            return False
        self.window = self.window[self.place :] + chunk
        self.place = 0
        return True

    def shown(self) -> str:
        return repr(self.window[self.place : self.place + 20]) if self.peek() else "the end of the file"


def _may_be_incomplete(error: ValueError, end: int) -> bool:
    """Tell an error that more text may cure: one at the very end, or a string without its end."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.msg.startswith("Unterminated string") or error.pos > end - LONGEST_TOKEN


def _reason(error: ValueError, start: int) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}, {error.pos - start} characters into the record"
    return str(error)
