"""How much of the files of an import has been read: where their sizes are known, a share can be shown.

What imports says beforehand what will be read of which files, also twice (`expect_file_read`); what opens
them counts (`open_metered_file`). Reading that nobody expected is not counted, so the share never exceeds 1.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


BUFFER = 2**16


@dataclass
class Meter:
    """Bytes that are `expected` to be read, and what was `read` of them; `left` are the others by file."""

    expected: int = 0
    read: int = 0
    left: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float | None:
        """None where nothing was expected."""
        return self.read / self.expected if self.expected else None

    def expect(self, path: Path, size: int) -> None:
        self.expected += size
        self.left[str(path)] += size

    def passed(self, path: Path, size: int) -> None:
        counted = min(size, self.left[str(path)])
        self.left[str(path)] -= counted
        self.read += counted


METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def meter_bytes_read() -> Iterator[Meter]:
    """Count what is read from here on."""
    meter = Meter()
    token = METER.set(meter)
    try:
        yield meter
    finally:
        METER.reset(token)


def expect_file_read(path: Path, times: int = 1) -> None:
    """Say that a file will be read to its end, so many times. What is no file says nothing of its size."""
    if (meter := METER.get()) and path.is_file():
        meter.expect(path, times * path.stat().st_size)


def add_read_bytes(path: Path, size: int) -> None:
    """Count bytes that something else than `open_metered_file` has read."""
    if meter := METER.get():
        meter.passed(path, size)


def finish_file_count(path: Path) -> None:
    """Count all that was expected of a file: the rest of it is of no use."""
    if meter := METER.get():
        meter.passed(path, meter.left[str(path)])


def open_metered_file(path: Path) -> io.BufferedReader:
    """A file to be read as bytes, which are counted."""
    return io.BufferedReader(_Counted(path), BUFFER)


class _Counted(io.FileIO):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        count = super().readinto(buffer)
        add_read_bytes(self.path, count or 0)
        return count

    def readall(self) -> bytes:
        content = super().readall()
        add_read_bytes(self.path, len(content))
        return content
