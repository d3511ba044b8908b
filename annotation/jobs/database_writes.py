"""Whether anybody wrote to the database: SQLite's file is looked at, PostgreSQL tells who listens."""

from __future__ import annotations

import os
import select
import time
from typing import Any, Final, Protocol

from django.db import connection

CHANNEL: Final = "cosqa_work"
"""On which triggers tell of writes that may be work; they were made by a migration."""
LISTEN_SECONDS: Final = 0.25
"""How long word is waited for at a time; a process that ends waits for the rest of it."""
SETTLED_NANOSECONDS: Final = 10**8
"""The clock of files ticks ten times as often: a write after so long has another time than the last one."""
KEEPALIVES: Final = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
"""A server that is gone without a word is missed within a minute."""


class Writes(Protocol):
    """What one thread asks again and again."""

    tells_all: bool
    """Whether no write is left out, whatever it is about."""

    def has_new(self) -> bool:
        """Whether anybody, in any process, wrote since the last call. Raises what the database raises."""

    def close(self) -> None:
        """Give back what it holds."""


class FileWrites:
    """Writes to SQLite's file; those of this thread's connection don't count."""

    tells_all = True

    def __init__(self) -> None:
        self._version, self._settled = -1, (0, 0)

    def has_new(self) -> bool:
        """Asks the file system first, and SQLite only where the log of writes is another one."""
        if self._is_untouched() or (version := read_data_version()) == self._version:
            return False
        self._version = version
        return True

    def _is_untouched(self) -> bool:
        """Whether the log of writes is as it was: asking the file system costs a quarter of asking SQLite."""
        try:
            found = os.stat(f"{connection.settings_dict['NAME']}-wal")
        except FileNotFoundError:
            return False
        last, now = self._settled, (found.st_mtime_ns, found.st_size)
        self._settled = now if time.time_ns() - found.st_mtime_ns > SETTLED_NANOSECONDS else (0, 0)
        return now == last

    def close(self) -> None:
        """Nothing is held but Django's connection of this thread."""


class ToldWrites:
    """Writes to PostgreSQL of which a trigger tells, on a connection of its own beside the pool."""

    tells_all = False  # a running build writes too often for that

    def __init__(self) -> None:
        self._link: Any = None

    def has_new(self) -> bool:
        """Waits up to LISTEN_SECONDS for word. Right after a connection was made anything may be new."""
        if self._link is None:
            self._link = connect_listener()
            return True
        try:
            # Psycopg would look ten times a second meanwhile.
            poll = select.poll()
            poll.register(self._link.fileno(), select.POLLIN)
            poll.poll(LISTEN_SECONDS * 1000)
            return bool(list(self._link.notifies(timeout=0)))
        except Exception:
            self.close()
            raise

    def close(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.close()


def connect_listener() -> Any:
    """A new connection that is told of writes. Raises psycopg's OperationalError."""
    import psycopg  # SQLite does without

    given = connection.get_connection_params()
    link = psycopg.connect(**{**KEEPALIVES, **given}, autocommit=True)
    link.execute(f"LISTEN {CHANNEL}")
    return link


def watch_writes() -> Writes:
    """What tells of writes to the database that is configured."""
    return FileWrites() if connection.vendor == "sqlite" else ToldWrites()


def read_data_version() -> int:
    """A number that is another one after each commit of another connection, also of another process."""
    connection.ensure_connection()
    return int(connection.connection.execute("PRAGMA data_version").fetchone()[0])
