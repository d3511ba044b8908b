"""Real errors of databases and files that have no room, wherever the tests run."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from typing import Any

from django.db import connection, transaction


def raise_full_database() -> None:
    """Raise what Django raises where the database of these tests has no room, in its own words."""
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("DO $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = 'disk_full'; END $$")
    with connection.wrap_database_errors:
        fill_sqlite()


def fill_sqlite() -> None:
    """Raise SQLite's own error: a database in memory that may have two pages gets a third."""
    full = sqlite3.connect(":memory:")
    try:
        full.execute("PRAGMA max_page_count = 2")
        full.execute("CREATE TABLE t (x BLOB)")
        full.execute("INSERT INTO t VALUES (zeroblob(100000))")
    finally:
        full.close()


def fill_file() -> None:
    """Raise the kernel's own error: nothing can be written to this device."""
    file = os.open("/dev/full", os.O_WRONLY)
    try:
        os.write(file, b"x")
    finally:
        os.close(file)


def failing(action: Callable[..., Any], times: int, fail: Callable[[], None]) -> Callable[..., Any]:
    """`action`, of which the first so many calls `fail` instead."""
    left = [None] * times

    def call(*given: Any, **named: Any) -> Any:
        if left:
            left.pop()
            fail()
        return action(*given, **named)

    return call
