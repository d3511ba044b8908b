"""Workers of a process wait for writes to the database file, and look as often as ever while work is open."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import connection

from annotation.jobs import changes as module
from annotation.jobs.changes import Changes
from annotation.models import Pulse

PATIENCE_SECONDS = 30


class Work:
    """Says whether work is open; counts how often it was asked."""

    is_open, asked = False, 0

    def __call__(self) -> bool:
        self.asked += 1
        return self.is_open


@pytest.fixture
def stop() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def version(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What SQLite says of the file; its last item counts."""
    told = [1]
    monkeypatch.setattr(module, "read_data_version", lambda: told[-1])
    monkeypatch.setattr(Changes, "_is_untouched", lambda self: False)
    monkeypatch.setattr(module, "record_heartbeat", lambda queue: None)
    return told


def waits(changes: Changes, seen: int) -> tuple[threading.Thread, Callable[[], bool]]:
    """A thread that waits for the next change, and whether it still does."""
    thread = threading.Thread(target=changes.wait_for_next, args=("llm", seen), daemon=True)
    thread.start()
    until = time.monotonic() + PATIENCE_SECONDS
    while thread.is_alive() and not changes._waiting["llm"] and time.monotonic() < until:
        os.sched_yield()
    return thread, thread.is_alive


def test_who_waits_is_woken_by_a_change(stop: threading.Event, work: Work, version: list[int]) -> None:
    changes = Changes(stop, work)
    changes.look()
    thread, is_waiting = waits(changes, changes.number)
    changes.look()
    assert is_waiting()
    version.append(2)
    changes.look()
    thread.join(PATIENCE_SECONDS)
    assert not is_waiting()


def test_a_change_during_a_look_is_not_missed(stop: threading.Event, work: Work, version: list[int]) -> None:
    changes = Changes(stop, work)
    changes.look()
    seen = changes.number
    version.append(2)
    changes.look()
    thread, is_waiting = waits(changes, seen)
    thread.join(PATIENCE_SECONDS)
    assert not is_waiting()


def test_nobody_waits_while_work_is_open(
    stop: threading.Event, work: Work, version: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ASK_SECONDS", 0)
    work.is_open = True
    changes = Changes(stop, work)
    changes.look()
    thread, is_waiting = waits(changes, changes.number)
    thread.join(PATIENCE_SECONDS)
    assert not is_waiting()
    assert work.asked == 1
    changes.look()
    assert work.asked == 1  # nothing was written, so nothing can be another way
    work.is_open = False
    version.append(2)
    changes.look()
    thread, is_waiting = waits(changes, changes.number)
    assert is_waiting()


def test_who_waits_ends_with_the_process(stop: threading.Event, work: Work, version: list[int]) -> None:
    changes = Changes(stop, work)
    changes.look()
    thread, is_waiting = waits(changes, changes.number)
    watching = threading.Thread(target=changes.watch)
    watching.start()
    stop.set()
    watching.join(PATIENCE_SECONDS)
    thread.join(PATIENCE_SECONDS)
    assert not is_waiting()


def test_where_watching_fails_the_others_look_by_themselves(
    stop: threading.Event, work: Work, version: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = Changes(stop, work)
    changes.look()
    thread, is_waiting = waits(changes, changes.number)

    def fail() -> int:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(module, "read_data_version", fail)
    monkeypatch.setattr(module, "ASK_SECONDS", 0)
    watching = threading.Thread(target=changes.watch)
    watching.start()
    thread.join(PATIENCE_SECONDS)
    assert not is_waiting()
    stop.set()
    watching.join(PATIENCE_SECONDS)


only_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="a server has no file to watch")


@only_sqlite
@pytest.mark.django_db(transaction=True)
def test_a_write_of_another_process_is_a_change(stop: threading.Event, work: Work) -> None:
    changes = Changes(stop, work)
    changes.look()
    for number in range(1, 4):
        other = sqlite3.connect(connection.settings_dict["NAME"], timeout=30)
        with other:
            other.execute("INSERT INTO annotation_pulse (queue) VALUES (?)", [f"other-{number}"])
        other.close()
        before = changes.number
        changes.look()
        assert changes.number == before + 1


@only_sqlite
@pytest.mark.django_db(transaction=True)
def test_what_is_still_is_not_asked_twice(
    stop: threading.Event, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    real = module.read_data_version

    def read_and_note() -> int:
        asked.append(1)
        return real()

    monkeypatch.setattr(module, "read_data_version", read_and_note)
    changes = Changes(stop, work)
    Pulse.objects.create(queue="any")
    wal = Path(f"{connection.settings_dict['NAME']}-wal")
    os.utime(wal, (time.time() - 10,) * 2)
    for _ in range(3):
        changes.look()
    assert len(asked) == 1
    os.utime(wal)  # as a write does
    changes.look()
    changes.look()
    assert len(asked) == 3  # a write right after a look could have the same time


@only_sqlite
@pytest.mark.django_db(transaction=True)
def test_the_signs_of_life_of_who_waits_wake_nobody(
    stop: threading.Event, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.jobs.heartbeat._signs", {})
    changes = Changes(stop, work)
    changes.look()
    _, is_waiting = waits(changes, changes.number)
    before = changes.number
    monkeypatch.setattr(module, "ASK_SECONDS", 0)
    changes.look()
    changes.look()
    assert Pulse.objects.filter(queue="llm").exists()
    assert (changes.number, is_waiting()) == (before, True)
