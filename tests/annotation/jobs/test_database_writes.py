"""What tells of writes: SQLite's file, PostgreSQL's notifications, and what a trigger has to stand for."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from annotation.jobs import database_writes as module
from annotation.jobs import worker
from annotation.jobs.database_writes import FileWrites, ToldWrites, watch_writes
from annotation.models import Case, LLMCall
from retrieval.jobs import JobOrder, submit_job
from retrieval.models import Job
from tests import factories
from tests.annotation.builds.pipeline.test_advance import Make

MIGRATION = import_module("annotation.migrations.0007_work_notices")
PATIENCE_SECONDS = 30


class Order(JobOrder):
    kind = Job.Kind.EXPORT


def order_job_elsewhere() -> None:
    """Have another connection, which is what another process has, order a job."""

    def order() -> None:
        try:
            submit_job(Order(), factories.erin())
        finally:
            connection.close()

    run_elsewhere(order)


def run_elsewhere(action: Callable[[], None]) -> None:
    thread = threading.Thread(target=action)
    thread.start()
    thread.join(PATIENCE_SECONDS)
    assert not thread.is_alive()


def is_told(writes: Any) -> bool:
    """Whether word comes within a while."""
    return any(writes.has_new() for _ in range(8))


@pytest.fixture
def writes() -> Iterator[Any]:
    """Of the database at hand, with nothing new."""
    found = watch_writes()
    assert found.has_new()
    yield found
    found.close()


@pytest.mark.django_db(transaction=True)
def test_each_order_of_another_process_is_new_once(writes: Any) -> None:
    for _ in range(3):
        assert not writes.has_new()
        order_job_elsewhere()
        assert is_told(writes)


@pytest.mark.django_db(transaction=True)
def test_chores_that_find_nothing_to_do_are_not_new(
    writes: Any, tools_with: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, _ = tools_with()
    monkeypatch.setattr("annotation.jobs.heartbeat.record_heartbeat", lambda queue: None)

    def work() -> None:
        try:
            for queue in worker.QUEUES:
                worker.drain_queue(queue, tools)
        finally:
            connection.close()

    run_elsewhere(work)
    is_told(writes)  # what the first round notes for good
    run_elsewhere(work)
    assert not is_told(writes)


@pytest.mark.django_db(transaction=True)
def test_an_answer_by_file_and_a_case_that_is_tried_again_are_new(writes: Any) -> None:
    case = factories.cases(factories.opened())[0]
    call = factories.llm_call(case, "reader", {}, status=LLMCall.Status.WAITING)
    Case.objects.filter(pk=case.pk).update(waiting_for=call)
    is_told(writes)

    def tell(action: Callable[[], object]) -> bool:
        def run() -> None:
            action()
            connection.close()

        run_elsewhere(run)
        return is_told(writes)

    answered = LLMCall.Status.SUCCEEDED
    assert tell(lambda: LLMCall.objects.filter(pk=call.pk).update(status=answered))
    assert tell(lambda: Case.objects.filter(pk=case.pk).update(waiting_for=None))
    tell(lambda: Case.objects.filter(pk=case.pk).update(stage="abandoned", reason="x"))
    assert tell(lambda: Case.objects.filter(pk=case.pk).update(stage="screening", reason=""))


@pytest.mark.django_db(transaction=True)
def test_all_that_counts_as_work_is_in_tables_that_tell() -> None:
    with CaptureQueriesContext(connection) as asked:
        worker.has_queued_work()
    text = " ".join(query["sql"] for query in asked.captured_queries)
    tables = set(re.findall(r'(?:FROM|JOIN) "(\w+)"', text))
    assert {"annotation_build", "retrieval_job"} <= tables
    assert tables <= {*MIGRATION.SELDOM, *MIGRATION.OFTEN}


def test_the_channel_is_the_one_of_the_triggers() -> None:
    assert module.CHANNEL == MIGRATION.CHANNEL


def test_a_file_that_is_still_is_not_asked_twice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    name = tmp_path / "some.sqlite3"
    log = Path(f"{name}-wal")
    log.touch()
    os.utime(log, (time.time() - 10,) * 2)
    numbers = iter(range(1, 9))
    monkeypatch.setattr(module, "connection", SimpleNamespace(settings_dict={"NAME": name}))
    monkeypatch.setattr(module, "read_data_version", lambda: next(numbers))
    writes = FileWrites()
    assert [writes.has_new() for _ in range(3)] == [True, False, False]
    assert next(numbers) == 2  # it was asked once
    os.utime(log)  # as a write does
    assert [writes.has_new() for _ in range(2)] == [
        True,
        True,
    ]  # a write right after a look has the same time


class FakeLink:
    """A connection that is told of `told` writes, and is lost where `is_lost`."""

    def __init__(self) -> None:
        self.told, self.is_lost, self.is_closed = 0, False, False
        self.reader, writer = os.pipe()
        os.close(writer)  # so that nobody waits for it

    def fileno(self) -> int:
        return self.reader

    def notifies(self, timeout: float) -> list[int]:
        if self.is_lost:
            raise OperationalError("the server closed the connection")
        told, self.told = self.told, 0
        return [timeout == 0] * told

    def close(self) -> None:
        os.close(self.reader)
        self.is_closed = True


def test_a_lost_connection_is_made_again_and_then_anything_may_be_new(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    links = [FakeLink(), FakeLink()]
    monkeypatch.setattr(module, "connect_listener", iter(links).__next__)
    writes = ToldWrites()
    assert [writes.has_new(), writes.has_new()] == [True, False]
    links[0].told = 2
    assert [writes.has_new(), writes.has_new()] == [True, False]
    links[0].is_lost = True
    with pytest.raises(OperationalError):
        writes.has_new()
    assert links[0].is_closed
    assert [writes.has_new(), writes.has_new()] == [True, False]
    writes.close()
    assert links[1].is_closed
