"""The ways from the program's process to the supervisor: its records, and what it prints."""

from __future__ import annotations

import _io
import itertools
import os
import sys

from sandbox.harness.opaque_callables import hide
from sandbox.harness.wire import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_MOST_TURNS = 2000
NUMBERS_OF_ONE = 1 << 32
"""A case's records are numbered from here on, the next one's from twice as much."""


class Channel:
    """The pipe to the supervisor, or from a case. Each record is a line that starts with the run's nonce.

    It ends with a number: one more than that of the record before, so that a lost record is missed.
    """

    def __init__(self, descriptor: int, nonce: str) -> None:
        self.descriptor, self._nonce, self._process = descriptor, nonce, os.getpid()
        self._tag: list[Any] = []
        self._write, self._getpid = os.write, os.getpid
        self._numbers = itertools.count(0)

    def send(self, kind: str, *values: Any) -> None:
        """Send a record; processes that the program started say nothing: only the first one is judged."""
        if self._getpid() == self._process:
            text = encode([*self._tag, kind, *values])
            self.write(f"{self._nonce} {text} {next(self._numbers)}\n".encode())

    def enter(self, case: int) -> None:
        """This process, a fork, is heard from now on; its records carry the number of its case."""
        self._process, self._tag = self._getpid(), ["in", case]
        self._numbers = itertools.count((case + 1) * NUMBERS_OF_ONE)

    def prefix(self, case: int) -> bytes:
        """What each line of a case begins with."""
        return f'{self._nonce} ["in",{case},'.encode()

    def write(self, line: bytes) -> None:
        """Write a line as it is."""
        try:
            while line and self._process >= 0:
                line = line[self._write(self.descriptor, line) :]
        except OSError:
            # The program closed or replaced the descriptor; the supervisor will miss the end.
            self._process = -1


def open_streams(channel: Channel) -> Callable[[], tuple[int, int]]:
    """Open the three standard streams; gives a function that says how many bytes went through the last two.

    Each time the program turns from one of them to the other, a record says how far the first one is: that
    gives the order of all that is printed by way of Python's own streams.
    """
    # No attribute of a stream leads to the channel.
    totals, turns, last = [0, 0, 0], _MOST_TURNS, 0

    def turn(number: int) -> None:
        nonlocal last, turns
        if number != last and last and turns:
            turns -= 1
            channel.send("turn", last, totals[last])
        last = number

    def count(number: int, written: int) -> None:
        totals[number] += written

    begin, end = hide(turn), hide(count)

    class Output(_io.FileIO):
        def write(self, data: Any, /) -> int:
            number = self.fileno()
            begin(number)
            written = super().write(data)
            end(number, written or 0)  # None where nothing could be written
            return written

    _set_stream("stdin", os.fdopen(0, "r", 1, encoding="utf-8", errors="backslashreplace"))
    for name, number in (("stdout", 1), ("stderr", 2)):
        buffer = _io.BufferedWriter(Output(number, "w"))
        stream = _io.TextIOWrapper(buffer, "utf-8", "backslashreplace", line_buffering=True)
        stream.mode = "w"  # type: ignore[misc]  # as open() does
        _set_stream(name, stream)
    return lambda: (totals[1], totals[2])


def _set_stream(name: str, stream: Any) -> None:
    setattr(sys, name, stream)
    setattr(sys, f"__{name}__", stream)
