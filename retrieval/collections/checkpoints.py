"""How often SQLite brings what was written into its file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from django.db import DatabaseError, connection

PAGES: Final = 16_000
"""64 MB; SQLite's own choice is 1,000."""


@contextmanager
def checkpoint_rarely() -> Iterator[None]:
    """Have SQLite copy its log into the database every 64 MB, and not every 4, as long as much is stored.

    Hashes are random, so an import writes to most pages of their indexes, and each copy writes these pages
    again. They become more with each row. Whoever commits waits for the copy, so small writes keep SQLite's
    own interval. Nothing is done on PostgreSQL.
    """
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_autocheckpoint")
        before = int(cursor.fetchone()[0])
        cursor.execute(f"PRAGMA wal_autocheckpoint = {PAGES}")
    try:
        yield
    finally:
        # What went wrong with the database is what the caller has to hear of.
        with suppress(DatabaseError), connection.cursor() as cursor:
            cursor.execute(f"PRAGMA wal_autocheckpoint = {before}")
