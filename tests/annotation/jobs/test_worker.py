"""The loop: from a launched build to its end, mining in a child, imports in the background, restarts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.utils import timezone

from annotation.builds.control.pause_resume import Action, control_build
from annotation.builds.launch.launcher import launch_build
from annotation.builds.launch.order import Order
from annotation.builds.pipeline import claims
from annotation.builds.pipeline.advance import Tools
from annotation.jobs import subprocesses, worker
from annotation.models import Build, Case, ExecutionRequest, Tally
from annotation.stages import Stage
from retrieval.models import Job, Mining
from tests import factories
from tests.annotation.builds.pipeline.test_advance import Make

ALL = {"llm": 2, "sandbox": 1, "interactive": 1, "mining": 1, "control": 1}
MATCH = {"verdict": 1, "explanation": "plain to see"}


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Children run in this process: the test database is not theirs to see."""
    from django.core.management import call_command

    def child(command: list[str], still_wanted: Callable[[], bool]) -> int:
        call_command(*command)
        return 0

    monkeypatch.setattr(subprocesses, "run_child_command", child)


def small_build() -> Build:
    return launch_build(
        Order(name="b", queries=factories.queries(), snippets=factories.snippets(), encoders=("bow",), k=2)
    )


@pytest.mark.django_db(transaction=True)
def test_a_build_is_mined_annotated_and_done(tools_with: Make, in_process: None) -> None:
    tools, _ = tools_with(MATCH)
    build = small_build()
    worker.until_idle(ALL, tools)
    build.refresh_from_db()
    tally = Tally.objects.get(build=build)
    assert build.state == Build.State.DONE
    assert tally.settled == tally.total == Case.objects.filter(build=build).count() == 6
    assert tally.version > 0
    assert build.finished_at is not None


@pytest.mark.django_db
def test_the_limit_bounds_the_pairs(tools_with: Make, in_process: None) -> None:
    tools, _ = tools_with(MATCH)
    build = launch_build(
        Order(
            name="b",
            queries=factories.queries(),
            snippets=factories.snippets(),
            encoders=("bow",),
            k=2,
            limit=3,
        )
    )
    for queue in ("mining", "control"):
        worker.drain_queue(queue, tools)
    assert Case.objects.filter(build=build).count() == 3


@pytest.mark.django_db
def test_a_failed_mining_fails_the_build_with_its_reason(tools_with: Make) -> None:
    tools, _ = tools_with(MATCH)
    build = small_build()
    Mining.objects.filter(pk=build.own_mining.pk).update(state=Mining.State.FAILED, message="no weights")
    worker.drain_queue("control", tools)
    build.refresh_from_db()
    assert (build.state, build.reason) == (Build.State.FAILED, "mining failed: no weights")


@pytest.mark.django_db(transaction=True)
def test_work_goes_on_after_the_workers_died(tools_with: Make, in_process: None) -> None:
    tools, _ = tools_with(MATCH)
    build = small_build()
    for queue in ("mining", "control"):
        worker.drain_queue(queue, tools)
    held = claims.claim_cases("llm", 2)
    Case.objects.filter(pk__in=[case.pk for case in held]).update(lease_until=timezone.now())
    worker.until_idle(ALL, tools)
    assert Tally.objects.get(build=build).settled == 6


@pytest.mark.django_db(transaction=True)
def test_a_paused_build_stands_still_and_a_resumed_one_goes_on(tools_with: Make, in_process: None) -> None:
    tools, _ = tools_with(MATCH)
    build = small_build()
    for queue in ("mining", "control"):
        worker.drain_queue(queue, tools)
    control_build(build, Action.PAUSE)
    worker.until_idle(ALL, tools)
    assert Tally.objects.get(build=build).settled == 0
    control_build(build, Action.RESUME)
    worker.until_idle(ALL, tools)
    assert Tally.objects.get(build=build).settled == 6


@pytest.mark.django_db
def test_an_upload_waits_for_no_mining(tools_with: Make, in_process: None) -> None:
    tools, _ = tools_with(MATCH)
    mining = small_build().own_mining
    file = ContentFile(b'[{"doc": "sort a list"}]', name="up.json")
    factories.import_job(name="up", file=file)
    assert worker.drain_queue("files", tools) == 1
    mining.refresh_from_db()
    assert (Job.objects.get().state, mining.state) == ("done", Mining.State.WAITING)
    assert worker.drain_queue("mining", tools) == 1
    mining.refresh_from_db()
    assert mining.state == Mining.State.DONE


@pytest.mark.django_db
def test_a_persons_request_is_executed_as_a_row_of_its_own(tools_with: Make) -> None:
    tools, _ = tools_with(MATCH)
    program = factories.program_for(factories.cases(factories.opened())[0])
    for _ in range(2):
        ExecutionRequest.objects.create(program=program, user=factories.erin())
    assert [worker.drain_queue("interactive", tools) for _ in range(3)] == [1, 1, 0]
    executions = {request.execution_id for request in ExecutionRequest.objects.all()}
    assert len(executions) == 2


@pytest.mark.django_db
def test_nothing_to_do_is_said_at_once(tools_with: Make) -> None:
    tools, _ = tools_with(MATCH)
    assert [worker.drain_queue(queue, tools) for queue in worker.QUEUES] == [0] * len(worker.QUEUES)


@pytest.mark.django_db(transaction=True)
def test_a_failure_in_the_loop_does_not_end_it(tools_with: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    tools, _ = tools_with(MATCH)
    tries: list[str] = []

    def drain(queue: str, tools: Tools, *, seldom: bool) -> int:
        tries.append(queue)
        raise RuntimeError("disk full")

    monkeypatch.setattr(worker, "drain_queue", drain)
    stop = threading.Event()
    thread = threading.Thread(target=worker.run_worker, args=("llm", tools, stop, 0.01))
    thread.start()
    deadline = time.monotonic() + 60
    while len(tries) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    stop.set()
    thread.join(timeout=60)
    connection.close()
    assert len(tries) >= 3
    assert not thread.is_alive()
    assert not Case.objects.filter(stage=Stage.SETTLED).exists()
