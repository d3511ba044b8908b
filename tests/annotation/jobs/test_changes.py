"""Workers of a process wait for writes to the database file, and look as often as ever while work is open."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from django.db import DatabaseError

from annotation.jobs import changes as module
from annotation.jobs.changes import Changes
from annotation.models import Pulse
from tests.annotation.jobs.test_database_writes import order_job_elsewhere

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


class FakeWrites:
    """Has a new write once for each of `new`; raises `fault` where there is one."""

    tells_all = True

    def __init__(self) -> None:
        self.new, self.fault, self.is_closed = 0, False, False

    def has_new(self) -> bool:
        if self.fault:
            raise DatabaseError("disk I/O error")
        self.new, had = max(0, self.new - 1), self.new
        return had > 0

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> FakeWrites:
    monkeypatch.setattr(module, "record_heartbeat", lambda queue: None)
    return FakeWrites()


def waits(changes: Changes, seen: int) -> tuple[threading.Thread, Callable[[], bool]]:
    """A thread that waits for the next change, and whether it still does."""
    thread = threading.Thread(target=changes.wait_for_next, args=("llm", seen), daemon=True)
    thread.start()
    until = time.monotonic() + PATIENCE_SECONDS
    while thread.is_alive() and not changes._waiting["llm"] and time.monotonic() < until:
        os.sched_yield()
    return thread, thread.is_alive


def test_who_waits_is_woken_by_a_change(stop: threading.Event, work: Work, writes: FakeWrites) -> None:
    changes = Changes(stop, work, writes)
    changes.look()
    thread, is_waiting = waits(changes, changes.number)
    changes.look()
    assert is_waiting()
    writes.new = 1
    changes.look()
    thread.join(PATIENCE_SECONDS)
    assert not is_waiting()


def test_a_change_during_a_look_is_not_missed(stop: threading.Event, work: Work, writes: FakeWrites) -> None:
    changes = Changes(stop, work, writes)
    changes.look()
    seen = changes.number
    writes.new = 1
    changes.look()
    thread, is_waiting = waits(changes, seen)
    thread.join(PATIENCE_SECONDS)
    assert not is_waiting()


def test_nobody_waits_while_work_is_open(
    stop: threading.Event, work: Work, writes: FakeWrites, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ASK_SECONDS", 0)
    work.is_open = True
    changes = Changes(stop, work, writes)
    changes.look()
    thread, is_waiting = waits(changes, changes.number)
    thread.join(PATIENCE_SECONDS)
    assert not is_waiting()
    assert work.asked == 1
    changes.look()
    assert work.asked == 1  # nothing was written, so nothing can be another way
    work.is_open = False
    writes.new = 1
    changes.look()
    thread, is_waiting = waits(changes, changes.number)
    assert is_waiting()


def test_who_waits_ends_with_the_process(stop: threading.Event, work: Work, writes: FakeWrites) -> None:
    changes = Changes(stop, work, writes)
    changes.look()
    thread, is_waiting = waits(changes, changes.number)
    watching = threading.Thread(target=changes.watch)
    watching.start()
    stop.set()
    watching.join(PATIENCE_SECONDS)
    thread.join(PATIENCE_SECONDS)
    assert not is_waiting()


def test_where_watching_fails_the_others_look_by_themselves(
    stop: threading.Event, work: Work, writes: FakeWrites, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = Changes(stop, work, writes)
    changes.look()
    thread, is_waiting = waits(changes, changes.number)
    writes.fault = True
    monkeypatch.setattr(module, "ASK_SECONDS", 0)
    watching = threading.Thread(target=changes.watch)
    watching.start()
    thread.join(PATIENCE_SECONDS)
    assert not is_waiting()
    stop.set()
    watching.join(PATIENCE_SECONDS)


def test_where_not_all_writes_are_told_of_the_end_of_work_is_asked_for(
    stop: threading.Event, work: Work, writes: FakeWrites, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ASK_SECONDS", 0)
    writes.tells_all = False
    work.is_open = True
    changes = Changes(stop, work, writes)
    changes.look()
    work.is_open = False
    changes.look()
    _, is_waiting = waits(changes, changes.number)
    assert (is_waiting(), work.asked) == (True, 2)
    changes.look()
    assert work.asked == 2  # what begins is told of


def test_a_fault_is_logged_once(
    stop: threading.Event,
    work: Work,
    writes: FakeWrites,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(module, "ASK_SECONDS", 0)
    monkeypatch.setattr(module, "LOOK_SECONDS", 0)
    changes = Changes(stop, work, writes)
    tries: list[int] = []

    def fail() -> bool:
        tries.append(1)
        if len(tries) == 3:
            stop.set()
        raise DatabaseError("the server is gone")

    monkeypatch.setattr(writes, "has_new", fail)
    changes.watch()
    assert (len(tries), len(caplog.records), writes.is_closed) == (3, 1, True)


@pytest.mark.django_db(transaction=True)
def test_who_waits_is_woken_by_another_process(stop: threading.Event, work: Work) -> None:
    changes = Changes(stop, work)
    changes.look()
    thread, is_waiting = waits(changes, changes.number)
    order_job_elsewhere()
    until = time.monotonic() + PATIENCE_SECONDS
    while is_waiting() and time.monotonic() < until:
        changes.look()
    changes._writes.close()
    thread.join(PATIENCE_SECONDS)
    assert not is_waiting()


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
    changes._writes.close()
    assert Pulse.objects.filter(queue="llm").exists()
    assert (changes.number, is_waiting()) == (before, True)
