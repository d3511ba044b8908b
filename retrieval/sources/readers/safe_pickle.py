"""Pickles of strangers, read as plain data: at once, or record by record in constant memory.

A pickle is a program, so none is run: of the standard library's own pickle machine written in Python only the
instructions for numbers, texts, flat tuples and dicts are left, and lists where records are streamed. What
would import, call or build an object is refused by name, as are sizes that only an attack has.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from retrieval.sources.readers.lines import clip_text
from retrieval.sources.readers.read_progress import open_metered_file

CONTAINERS_LIMIT = 5_000_000
LARGEST_NUMBER = 2**53
PIECE_LIMIT = 64 * 2**20
"""Bytes of one text, or one frame, of a pickle that is streamed."""
BATCH_LIMIT = 512 * 2**20
"""Bytes between two batches of records: pickle writes 1,000 records in one."""
WINDOW = 100_000
"""So many of the last texts and containers can be referred to; of those before only what is referred to."""
FAR_LIMIT = 4_000_000
HELD_LIMIT = 512 * 2**20
"""Characters of the texts that can be referred to."""

CONTAINERS = frozenset({"TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "EMPTY_DICT", "DICT"})
NUMBERS = frozenset({"NONE", "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "NEWTRUE", "NEWFALSE"})
TEXTS = frozenset({"STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE"})
PUTS = frozenset({"PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"})
GETS = frozenset({"GET", "BINGET", "LONG_BINGET"})
FRAME = frozenset({"PROTO", "FRAME", "STOP", "MARK", "SETITEM", "SETITEMS"})
ALLOWED = CONTAINERS | NUMBERS | TEXTS | PUTS | GETS | FRAME
LINES = frozenset({"INT", "LONG", "STRING", "UNICODE", "PUT", "GET"})
LISTS = frozenset({"EMPTY_LIST", "LIST", "APPEND", "APPENDS"})
STREAMED = (ALLOWED | LISTS | {"BINFLOAT"}) - LINES
NAMES = {ord(opcode.code): opcode.name for opcode in pickletools.opcodes}
LENGTHS = {
    pickletools.TAKEN_FROM_ARGUMENT1: 1,
    pickletools.TAKEN_FROM_ARGUMENT4: 4,
    pickletools.TAKEN_FROM_ARGUMENT4U: 4,
}
"""Bytes of the length before an argument that has one."""
WIDTHS = {
    ord(opcode.code): LENGTHS.get(opcode.arg.n, opcode.arg.n) if opcode.arg else 0
    for opcode in pickletools.opcodes
    if opcode.name in STREAMED
}
"""Bytes behind each instruction that is streamed."""
SIZED = frozenset(
    ord(opcode.code) for opcode in pickletools.opcodes if opcode.arg and opcode.arg.n in LENGTHS
)
FILLING = frozenset(code for code in WIDTHS if NAMES[code] in PUTS)
REFERRING = frozenset(code for code in WIDTHS if NAMES[code] in GETS)
LONGEST_HEADER = 9
CHUNK = 2**20

Dispatch: TypeAlias = dict[int, Callable[[Any], None]]


class Hostile(pickle.UnpicklingError):
    """The pickle asks for more than plain data."""


def load_safe_pickle(content: bytes) -> Any:
    """The numbers, texts, flat tuples and dicts that a pickle holds. Raises `pickle.UnpicklingError`."""
    with _told_as_damage():
        return _Plain(io.BytesIO(content), encoding="utf-8", errors="replace").load()


def stream_safe_pickle(path: Path) -> Iterator[Any]:
    """Yield the items of a pickled list, or (key, value) of a pickled dict, in order.

    The file is read twice: first for the texts that are referred to from far away, so that the others can be
    forgotten. Memory holds about 1,000 records. Raises `pickle.UnpicklingError` and `OSError`.
    """
    with _told_as_damage():
        with open_metered_file(path) as file:
            far = _find_far_references(_Bounded(file))
        with open_metered_file(path) as file:
            yield from _Stream(_Bounded(file), far).records()


@contextmanager
def _told_as_damage() -> Iterator[None]:
    """A damaged pickle raises whatever its last instruction meets."""
    try:
        yield
    except (pickle.UnpicklingError, MemoryError, OSError):
        raise
    except Exception as error:
        told = f"{type(error).__name__}: {str(error)[:100]}".removesuffix(": ")
        raise pickle.UnpicklingError(f"is a damaged pickle: {told}") from error


class _Bounded:
    """A file of which no piece is longer than PIECE_LIMIT; `count` is what was read of it."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.count = file, 0

    def read(self, size: int) -> bytes:
        if not 0 <= size <= PIECE_LIMIT:
            raise Hostile(f"has a text of more than {PIECE_LIMIT:,} bytes")
        self.count += size
        return self.file.read(size)

    def readline(self) -> bytes:
        raise Hostile("is written in lines, as by protocol 0: write it with a newer protocol")


def _find_far_references(file: _Bounded) -> Set[int]:
    """The places in the memo that are referred to when WINDOW others were filled since."""
    far, filled, data, at = set[int](), 0, b"", 0
    while True:
        if at + LONGEST_HEADER > len(data):
            data, at = data[at:] + file.read(CHUNK), 0
        if at >= len(data):
            raise EOFError("it is cut off")
        instruction = data[at]
        if (width := WIDTHS.get(instruction)) is None:
            raise Hostile(_refusal(NAMES.get(instruction, hex(instruction)), "lists"))
        end = at + 1 + width
        if instruction in SIZED:
            end += int.from_bytes(data[at + 1 : end], "little")
        elif instruction in FILLING:
            filled = 1 + (int.from_bytes(data[at + 1 : end], "little") if width else filled)
        elif instruction in REFERRING:
            place = int.from_bytes(data[at + 1 : end], "little")
            if filled - place >= WINDOW:
                far.add(place)
                if len(far) > FAR_LIMIT:
                    raise Hostile(f"refers to more than {FAR_LIMIT:,} texts far away")
        elif instruction == pickle.STOP[0]:
            return far
        while end > len(data):
            if not (more := file.read(CHUNK)):
                raise EOFError("it is cut off")
            data, end = more, end - len(data)
        at = end


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


class _Stream(_Plain):
    """A machine that gives away what its outermost list or dict would hold."""

    metastack: list[list[Any]]
    memo: dict[int, Any]

    def __init__(self, file: _Bounded, far: Set[int]) -> None:
        super().__init__(file, encoding="utf-8", errors="replace")
        self.file, self.far, self.filled, self.held = file, far, 0, 0
        self.root, self.ready, self.began = None, list[Any](), 0

    def records(self) -> Iterator[Any]:
        # As the standard library's `load`, which returns only at the end.
        frames = pickle._Unframer(self.file.read, self.file.readline)  # type: ignore[attr-defined]
        self._unframer, self.read = frames, frames.read
        self.readinto, self.readline = frames.readinto, frames.readline
        self.metastack, self.stack, self.proto = [], [], 0
        self.append = self.stack.append
        dispatch, read = self.dispatch, frames.read
        while instruction := read(1):
            if instruction == pickle.STOP:
                self.seen("STOP")
                return
            dispatch[instruction[0]](self)  # type: ignore[arg-type]
            if self.ready:
                yield from self.ready
                self.ready, self.made, self.began = [], 0, self.file.count
        raise EOFError("it is cut off")

    def seen(self, instruction: str) -> None:
        super().seen(instruction)
        if self.file.count - self.began > BATCH_LIMIT:
            raise Hostile(f"has more than {BATCH_LIMIT:,} bytes in one batch of records")
        if self.root is None and not self.metastack and self.stack:
            self.root = self.stack[0]
            if not isinstance(self.root, list | dict):
                raise Hostile(f"expected a list or a dict, found {type(self.root).__name__}")

    def give_away(self) -> None:
        """Take what was put into the outermost container out of it."""
        if self.metastack or len(self.stack) != 1:
            return
        if isinstance(self.root, list):
            self.ready += self.root
        elif isinstance(self.root, dict):
            self.ready += self.root.items()
        if self.root:
            self.root.clear()

    def fill(self, place: int) -> None:
        """Remember what is on top; what is WINDOW places back is forgotten, unless it is asked for later."""
        if place != self.filled and (self.filled, place) != (0, 1):  # Python 2 counts from 1
            raise Hostile("does not fill its memo in order")
        self.memo[place] = value = self.stack[-1]
        self.filled = place + 1
        self.held += len(value) if type(value) is str else 0
        if self.held > HELD_LIMIT:
            raise Hostile(f"can refer to more than {HELD_LIMIT:,} characters")
        if place >= WINDOW and (left := place - WINDOW) not in self.far:
            gone = self.memo.pop(left, None)
            self.held -= len(gone) if type(gone) is str else 0


def _allowed(instruction: str, perform: Callable[[Any], None]) -> Callable[[Any], None]:
    def checked(machine: _Plain) -> None:
        perform(machine)
        if instruction != "STOP":
            machine.seen(instruction)

    return checked


def _giving(instruction: str, perform: Callable[[Any], None]) -> Callable[[Any], None]:
    def checked(machine: _Stream) -> None:
        perform(machine)
        machine.seen(instruction)
        machine.give_away()

    return checked


def _filling(instruction: str, perform: Callable[[Any], None]) -> Callable[[Any], None]:
    width = {"MEMOIZE": 0, "BINPUT": 1}.get(instruction, 4)
    if not width:
        return lambda machine: machine.fill(machine.filled)
    return lambda machine: machine.fill(int.from_bytes(machine.read(width), "little"))


def _unchecked(instruction: str, perform: Callable[[Any], None]) -> Callable[[Any], None]:
    """Of texts, what refers to them and marks: most of a file; the next container is looked at."""
    return perform


def _refusal(instruction: str, more: str = "") -> str:
    kinds = ", ".join(filter(None, ("only numbers, texts, tuples", more)))
    return f"has the instruction {instruction}; {kinds} and dicts are read"


def _refused(instruction: str, more: str = "") -> Callable[[Any], None]:
    def refuse(machine: _Plain) -> None:
        raise Hostile(_refusal(instruction, more))

    return refuse


def _machine(allowed: Set[str], wrappers: Mapping[str, Any], more: str = "") -> Dispatch:
    """The instructions of a machine: those allowed, each wrapped, all others refused."""
    return {
        code: wrappers.get(NAMES[code], _allowed)(NAMES[code], perform)
        if NAMES[code] in allowed
        else _refused(NAMES[code], more)
        for code, perform in pickle._Unpickler.dispatch.items()
    }


_Plain.dispatch = _machine(ALLOWED, {})
_Stream.dispatch = _machine(
    STREAMED,
    {
        **dict.fromkeys(("APPEND", "APPENDS", "SETITEM", "SETITEMS", "LIST", "DICT"), _giving),
        **dict.fromkeys(PUTS, _filling),
        **dict.fromkeys(GETS | TEXTS | {"MARK"}, _unchecked),
    },
    "lists",
)
