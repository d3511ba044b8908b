"""Leased cases that no thread of this process has begun: one thread claims for all, and any takes the next.

A claim costs nearly the same for one case as for many, and what is looked up for a build is looked up once
for each. Threads that share what they claimed claim seldom, and no case waits behind another one's call while
a thread is free.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from annotation.models import Case

SHARE: Final = 3
"""A claim takes a case for each so many threads: they are begun long before their leases are old."""


class Desk:
    """What lies ready for the threads that work on one queue."""

    def __init__(self) -> None:
        self.claiming = threading.Lock()
        self._left: deque[Case] = deque()
        self._counting = threading.Lock()
        self._seats = 0

    @property
    def seats(self) -> int:
        """How many threads share it."""
        return self._seats

    @contextmanager
    def seat(self) -> Iterator[None]:
        """One more thread shares it until the block ends."""
        with self._counting:
            self._seats += 1
        try:
            yield
        finally:
            with self._counting:
                self._seats -= 1

    def handful(self, least: int) -> int:
        """How many cases one claim takes."""
        return max(least, self._seats // SHARE)

    def take(self) -> Case | None:
        """The case that has lain longest; None where none lies there."""
        try:
            return self._left.popleft()
        except IndexError:
            return None

    def fill(self, claim: Callable[[], list[Case]], before_waiting: Callable[[], None]) -> Case | None:
        """Have one thread `claim` for all, and take the first.

        None where nothing waits, and where another thread has filled it meanwhile: then `take` gives one.
        `before_waiting` is called before a thread waits for another one's claim: whoever waits may hold no
        connection, or the claim would find none.
        """
        if not self.claiming.acquire(blocking=False):
            before_waiting()
            self.claiming.acquire()
        try:
            if self._left:
                return None
            cases = claim()
            self._left.extend(cases[1:])
            return cases[0] if cases else None
        finally:
            self.claiming.release()

    def clear(self) -> list[Case]:
        """Take all that lies there."""
        return list(iter(self.take, None))


_desks: Final[dict[str, Desk]] = {}


def desk_of_queue(queue: str) -> Desk:
    """The one that the threads of `queue` share."""
    return _desks.setdefault(queue, Desk())


def desk_here(queue: str) -> Desk:
    """The shared one where threads sit at it; else one of the caller's own, who works alone."""
    shared = desk_of_queue(queue)
    return shared if shared.seats else Desk()
