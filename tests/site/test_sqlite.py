"""Writers of one process take turns at SQLite's file, whoever fails, gives up or goes."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.utils import ConnectionHandler, OperationalError

from cosqa_site.sqlite import base
from cosqa_site.sqlite.base import DatabaseWrapper

WRITERS, TIMES = 8, 25
pytestmark = pytest.mark.django_db  # which opens the door to any database


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database with a counter, which is no test database of Django's."""
    path = tmp_path / "turns.sqlite3"
    with Opened(path) as made:
        made.cursor().execute("CREATE TABLE counter (value INTEGER NOT NULL CHECK (value >= 0))")
        made.cursor().execute("INSERT INTO counter VALUES (0)")
    return path


class Opened:
    """A connection of one's own to the file, closed after the block."""

    def __init__(self, path: Path, timeout: float = 5) -> None:
        options = {"timeout": timeout, "transaction_mode": "IMMEDIATE"}
        given = {"default": {"ENGINE": "cosqa_site.sqlite", "NAME": path, "OPTIONS": options}}
        self.connection: Any = ConnectionHandler(given)["default"]

    def __enter__(self) -> DatabaseWrapper:
        assert isinstance(self.connection, DatabaseWrapper)
        self.connection.ensure_connection()
        return self.connection

    def __exit__(self, *_: object) -> None:
        self.connection.close()


def begin(made: DatabaseWrapper) -> None:
    made._start_transaction_under_autocommit()


def turn_is_free(path: Path) -> bool:
    return not base._turns[str(path)].locked()


def test_all_writers_get_their_turn_and_nothing_is_lost(file: Path) -> None:
    def write() -> None:
        with Opened(file, timeout=0) as made:  # SQLite itself would turn the second writer away at once
            for _ in range(TIMES):
                begin(made)
                made.cursor().execute("UPDATE counter SET value = value + 1")
                made.commit()

    with ThreadPoolExecutor(WRITERS) as pool:
        for done in [pool.submit(write) for _ in range(WRITERS)]:
            done.result(300)
    with Opened(file) as made:
        assert made.cursor().execute("SELECT value FROM counter").fetchone() == (WRITERS * TIMES,)
    assert turn_is_free(file)


def test_a_transaction_that_fails_gives_its_turn_up(file: Path) -> None:
    with Opened(file) as made:
        begin(made)
        with pytest.raises(IntegrityError):
            made.cursor().execute("UPDATE counter SET value = -1")
        assert not turn_is_free(file)
        made.rollback()
        assert turn_is_free(file)


def test_a_connection_that_is_closed_in_a_transaction_gives_its_turn_up(file: Path) -> None:
    with Opened(file) as made:
        begin(made)
        made.cursor().execute("UPDATE counter SET value = 7")
    assert turn_is_free(file)
    with Opened(file) as made:
        assert made.cursor().execute("SELECT value FROM counter").fetchone() == (0,)


def test_a_transaction_that_cannot_begin_gives_its_turn_up(file: Path) -> None:
    with Opened(file) as other, Opened(file, timeout=0) as made:
        other.cursor().execute("BEGIN IMMEDIATE")  # as another process would, which knows of no turns
        with pytest.raises(OperationalError, match="locked"):
            begin(made)
        assert turn_is_free(file)
        other.cursor().execute("ROLLBACK")


def test_whoever_waited_long_enough_asks_sqlite(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "PATIENCE_SECONDS", 0.01)
    with Opened(file) as holder, Opened(file, timeout=0) as made:
        begin(holder)
        with pytest.raises(OperationalError, match="locked"):
            begin(made)
        assert not turn_is_free(file)
        holder.rollback()
    assert turn_is_free(file)


@pytest.mark.django_db(transaction=True)
def test_blocks_of_the_site_give_their_turn_up() -> None:
    """Nested ones are one transaction, and what is raised leaves nothing held."""
    ended = threading.Event()
    with transaction.atomic(), transaction.atomic():
        pass
    with pytest.raises(DatabaseError), transaction.atomic():
        raise DatabaseError("refused")

    def write() -> None:
        with transaction.atomic():
            ended.set()
        connection.close()

    thread = threading.Thread(target=write)
    thread.start()
    thread.join(60)
    assert ended.is_set()
