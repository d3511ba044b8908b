"""StaQC's pickles of Stack Overflow code: a dict from (question id, place of the block) to code, or from id.

A pickle is a program, so none is run: of the standard library's own pickle machine written in Python only the
instructions for numbers, texts, flat tuples and dicts are left. What would import, call or build an object is
refused by name, as are sizes that only an attack has.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from retrieval.sources import GivenLabel, Item, Problem, Query, Snippet
from retrieval.sources.readers.lines import clip_text

FILE_LIMIT = 128 * 2**20
"""Bytes; StaQC's largest file has less, and a pickle is read into memory as a whole."""
CONTAINERS_LIMIT = 5_000_000
LARGEST_NUMBER = 2**53
LICENCE = "CC-BY-SA-3.0"

CONTAINERS = frozenset({"TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "EMPTY_DICT", "DICT"})
NUMBERS = frozenset({"NONE", "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "NEWTRUE", "NEWFALSE"})
TEXTS = frozenset({"STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE"})
MEMO = frozenset({"PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE", "GET", "BINGET", "LONG_BINGET"})
FRAME = frozenset({"PROTO", "FRAME", "STOP", "MARK", "SETITEM", "SETITEMS"})
ALLOWED = CONTAINERS | NUMBERS | TEXTS | MEMO | FRAME
NAMES = {ord(opcode.code): opcode.name for opcode in pickletools.opcodes}


class Hostile(pickle.UnpicklingError):
    """The pickle asks for more than numbers, texts, tuples and dicts."""


def load_safe_pickle(content: bytes) -> Any:
    """The numbers, texts, flat tuples and dicts that a pickle holds. Raises `pickle.UnpicklingError`."""
    try:
        return _Plain(io.BytesIO(content), encoding="utf-8", errors="replace").load()
    except (pickle.UnpicklingError, MemoryError):
        raise
    except Exception as error:  # a damaged pickle raises whatever its last instruction meets
        told = f"{type(error).__name__}: {str(error)[:100]}".removesuffix(": ")
        raise pickle.UnpicklingError(f"is a damaged pickle: {told}") from error


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


class _Plain(pickle._Unpickler):
    """The standard library's machine, with few instructions; each counts what it makes and looks at it."""

    stack: list[Any]
    made = 0

    def find_class(self, module: str, name: str) -> Any:
        raise Hostile(f"asks for {clip_text(f'{module}.{name}')}, which is refused")

    def persistent_load(self, key: Any) -> Any:
        raise Hostile("asks for a persistent object, which is refused")

    def seen(self, instruction: str) -> None:
        """Refuse nested tuples, whose hash takes for ever, numbers that collide, containers without end."""
        top = self.stack[-1] if self.stack else None
        if isinstance(top, tuple) and any(isinstance(item, tuple) for item in top):
            raise Hostile("has a tuple in a tuple")
        if isinstance(top, int) and abs(top) > LARGEST_NUMBER:
            raise Hostile("has a number of more than 53 bits")
        self.made += instruction in CONTAINERS
        if self.made > CONTAINERS_LIMIT:
            raise Hostile(f"has more than {CONTAINERS_LIMIT:,} tuples and dicts")


def _allowed(instruction: str, perform: Callable[[Any], None]) -> Callable[[Any], None]:
    def checked(machine: _Plain) -> None:
        perform(machine)
        if instruction != "STOP":
            machine.seen(instruction)

    return checked


def _refused(instruction: str) -> Callable[[Any], None]:
    def refuse(machine: _Plain) -> None:
        raise Hostile(f"has the instruction {instruction}; only numbers, texts, tuples and dicts are read")

    return refuse


_Plain.dispatch = {
    code: _allowed(NAMES[code], perform) if NAMES[code] in ALLOWED else _refused(NAMES[code])
    for code, perform in pickle._Unpickler.dispatch.items()
}
