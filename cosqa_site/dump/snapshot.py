"""One state of the database for many reads, while others go on writing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def hold_snapshot() -> Iterator[None]:
    """Every read of the block sees the database as the first one does. Nobody waits for it.

    It has to be the outermost transaction.
    """
    with _begin_without_lock(), transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


@contextmanager
def _begin_without_lock() -> Iterator[None]:
    """Have SQLite's transactions begin as reads: ours begin as writes, which would keep everybody out."""
    connection.ensure_connection()  # it takes the mode out of the settings when it connects
    if connection.vendor != "sqlite":
        yield
        return
    usual, connection.transaction_mode = connection.transaction_mode, "DEFERRED"  # type: ignore[attr-defined]
    try:
        yield
    finally:
        connection.transaction_mode = usual  # type: ignore[attr-defined]
