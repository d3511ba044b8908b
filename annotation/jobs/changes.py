"""When workers look for work: a database that nobody has written to since the last look has none that is new.

One thread asks for that, which costs next to nothing, and wakes the others. What becomes due by the clock
alone is there only while some work is open, and then they look as often as without this.
"""

from __future__ import annotations

import ctypes
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from django.db import connection

from annotation.jobs.database_writes import Writes, watch_writes
from annotation.jobs.heartbeat import record_heartbeat

log = logging.getLogger(__name__)
LOOK_SECONDS: Final = 0.05
"""Between two looks: as often as the queue was looked at for which a person waits."""
ASK_SECONDS: Final = 1.0
"""Between two questions whether any work is open."""
QUIET_SECONDS: Final = 60.0
"""The longest time between two looks at a queue."""


class Changes:
    """Tells the worker threads of this process that somebody, in any process, wrote to the database."""

    def __init__(
        self, stop: threading.Event, has_work: Callable[[], bool], writes: Writes | None = None
    ) -> None:
        self._stop, self._has_work, self._writes = stop, has_work, writes or watch_writes()
        self._condition = threading.Condition()
        self._waiting: Counter[str] = Counter()
        self._number = 0
        self._quiet, self._is_unsure, self._asked = False, True, -ASK_SECONDS

    @property
    def number(self) -> int:
        """How many changes were seen; to be read before a look, and handed to `wait_for_next` after it."""
        return self._number

    def wait_for_next(self, queue: str, seen: int) -> None:
        """Wait for a change after the one of number `seen`, as long as no work is open."""
        with self._condition:
            self._waiting[queue] += 1
            self._condition.wait_for(
                lambda: self._number != seen or not self._quiet or self._stop.is_set(), QUIET_SECONDS
            )
            self._waiting[queue] -= 1

    def watch(self) -> None:
        """Look for changes until `stop` is set; while that fails, the others look for work by themselves."""
        is_failing = False
        while not self._stop.is_set():
            try:
                self.look()
                is_failing = False
            except Exception:
                if not is_failing:
                    log.exception("watching for changes; until it works, all workers look by themselves")
                is_failing, self._is_unsure = True, True
                self._conclude(quiet=False)
                connection.close()
                self._stop.wait(ASK_SECONDS)
            time.sleep(LOOK_SECONDS)  # half the cost of waiting for `stop`
        self._conclude(quiet=False)
        self._writes.close()
        connection.close()

    def look(self) -> None:
        """Look once; wake the others where something changed, or where work turns out to be open."""
        if self._writes.has_new():
            self._is_unsure = True
            with self._condition:
                self._number += 1
                self._condition.notify_all()
        if time.monotonic() - self._asked >= ASK_SECONDS:
            self._asked = time.monotonic()
            self._ask()

    def _ask(self) -> None:
        """Ask whether work is open, where that may have changed, and leave signs of life for who waits."""
        may_have_ended = not self._quiet and not self._writes.tells_all
        if self._is_unsure or may_have_ended:
            self._is_unsure = False
            self._conclude(quiet=not self._has_work())
        with self._condition:
            waiting = [queue for queue, count in self._waiting.items() if count]
        for queue in waiting:
            record_heartbeat(queue)  # what this connection writes is no change to it
        if connection.vendor != "sqlite":
            connection.close()  # back to the pool

    def _conclude(self, *, quiet: bool) -> None:
        if quiet and not self._quiet:
            give_back_memory()
        with self._condition:
            self._quiet = quiet
            if not quiet:
                self._condition.notify_all()


def give_back_memory() -> None:
    """Have the C library give to the machine what it keeps of freed memory, where it can."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim:
        trim(0)
