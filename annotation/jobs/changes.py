"""When workers look for work: a file that nobody has written to since the last look has none that is new.

One thread asks SQLite for that, which costs next to nothing, and wakes the others. What becomes due by the
clock alone is there only while some work is open, and then they look as often as without this.
"""

from __future__ import annotations

import ctypes
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from django.db import connection

from annotation.jobs.heartbeat import record_heartbeat

log = logging.getLogger(__name__)
LOOK_SECONDS: Final = 0.05
"""Between two looks at the file: as often as the queue was looked at for which a person waits."""
ASK_SECONDS: Final = 1.0
"""Between two questions whether any work is open."""
QUIET_SECONDS: Final = 60.0
"""The longest time between two looks at a queue."""
SETTLED_NANOSECONDS: Final = 10**8
"""The clock of files ticks ten times as often: a write after so long has another time than the last one."""


class Changes:
    """Tells the worker threads of this process that somebody, in any process, wrote to the database file."""

    def __init__(self, stop: threading.Event, has_work: Callable[[], bool]) -> None:
        self._stop, self._has_work = stop, has_work
        self._condition = threading.Condition()
        self._waiting: Counter[str] = Counter()
        self._number, self._version, self._settled = 0, -1, (0, 0)
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
        while not self._stop.is_set():
            try:
                self.look()
            except Exception:
                log.exception("watching for changes")
                self._is_unsure = True
                self._conclude(quiet=False)
                time.sleep(ASK_SECONDS)
            time.sleep(LOOK_SECONDS)  # half the cost of waiting for `stop`
        self._conclude(quiet=False)
        connection.close()

    def look(self) -> None:
        """Look once; wake the others where something changed, or where work turns out to be open."""
        if not self._is_untouched() and (version := read_data_version()) != self._version:
            self._version, self._is_unsure = version, True
            with self._condition:
                self._number += 1
                self._condition.notify_all()
        if time.monotonic() - self._asked >= ASK_SECONDS:
            self._asked = time.monotonic()
            self._ask()

    def _ask(self) -> None:
        """Ask whether work is open, where that may have changed, and leave signs of life for who waits."""
        if self._is_unsure:
            self._is_unsure = False
            self._conclude(quiet=not self._has_work())
        with self._condition:
            waiting = [queue for queue, count in self._waiting.items() if count]
        for queue in waiting:
            record_heartbeat(queue)  # what this connection writes is no change to it

    def _is_untouched(self) -> bool:
        """Whether the log of writes is as it was: asking the file system costs a quarter of asking SQLite."""
        try:
            found = os.stat(f"{connection.settings_dict['NAME']}-wal")
        except FileNotFoundError:
            return False
        last, now = self._settled, (found.st_mtime_ns, found.st_size)
        self._settled = now if time.time_ns() - found.st_mtime_ns > SETTLED_NANOSECONDS else (0, 0)
        return now == last

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


def read_data_version() -> int:
    """A number that is another one after each commit of another connection, also of another process."""
    connection.ensure_connection()
    return int(connection.connection.execute("PRAGMA data_version").fetchone()[0])
