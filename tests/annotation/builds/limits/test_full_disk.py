"""A full disk: builds wait with the reason, nothing paid is lost, and all goes on when there is room."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from annotation.builds.limits import budget, full_disk
from annotation.builds.pipeline import claims, labels
from annotation.builds.pipeline.advance import TRIES, Tools, advance_case
from annotation.jobs import subprocesses, worker
from annotation.llm import LLMError
from annotation.models import Build, BuildEvent, Case, LLMCall, Tally
from annotation.stages import Stage
from retrieval.disk_space import EXIT_STATUS
from retrieval.models import Job, Label, Mining
from sandbox.protocol import SandboxUnavailable
from tests import factories, full_disks
from tests.fakes import FakeLLM, FakeSandbox

pytestmark = pytest.mark.django_db

Make = Callable[..., tuple[Tools, FakeLLM]]
YES = {"verdict": 1, "explanation": "plain to see"}
NO_PACKAGES = "packages cannot be kept: [Errno 28] No space left on device"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses that end as they begin."""
    monkeypatch.setattr(full_disk, "FIRST_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(full_disk, "SECONDS_BETWEEN_LOOKS", 0.0)


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes are free, to be changed."""
    free = [0]
    monkeypatch.setattr(full_disk, "find_free_bytes", lambda folder: free[0])
    return free


def make_due(build: Build) -> None:
    Build.objects.filter(pk=build.pk).update(next_probe_at=timezone.now())
    Case.objects.filter(build=build).update(next_attempt_at=None)


def test_where_little_room_is_left_nothing_is_asked_and_builds_wait_with_the_reason(
    tools_with: Make, room: list[int]
) -> None:
    tools, llm = tools_with(YES)
    build = factories.opened()
    assert [worker.drain_queue(queue, tools) for queue in ("llm", "sandbox", "control")] == [0, 0, 0]
    build.refresh_from_db()
    assert (build.state, build.waits_for, build.get_state_display()) == (
        Build.State.WAITING,
        Build.WaitsFor.DISK,
        "waiting for room on the disk",
    )
    assert build.reason.startswith("The disk is full: 0 MB are free where ")
    assert not llm.calls
    assert BuildEvent.objects.filter(build=build, event="waits for room on the disk").count() == 1


def test_of_several_machines_one_without_room_leaves_the_builds_to_the_others(
    tools_with: Make, room: list[int], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_disk, "FIRST_PAUSE_SECONDS", 60.0)
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    build = factories.opened()
    assert worker.drain_queue("llm", tools_with(YES)[0]) == 0
    assert Build.objects.get(pk=build.pk).state == Build.State.RUNNING
    full_disk.gate.shut("the database has no room", is_of_database=True)
    worker.drain_queue("llm", tools_with(YES)[0])
    assert Build.objects.get(pk=build.pk).state == Build.State.WAITING


def test_builds_go_on_by_themselves_when_there_is_room(tools_with: Make, room: list[int]) -> None:
    tools, llm = tools_with(YES)
    build = factories.opened()
    worker.drain_queue("control", tools)
    make_due(build)
    worker.drain_queue("control", tools)
    assert Build.objects.get(pk=build.pk).state == Build.State.WAITING, "there is no room yet"
    room[0] = 10**12
    worker.drain_queue("control", tools)
    assert Build.objects.get(pk=build.pk).state == Build.State.RUNNING
    assert worker.drain_queue("llm", tools) == len(llm.calls) > 0
    assert BuildEvent.objects.filter(build=build, event="continues by itself").exists()


def test_a_reply_that_can_not_be_stored_is_kept_and_paid_once(
    tools_with: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, llm = tools_with(YES)
    build = factories.opened()
    [case] = claims.claim_cases("llm", 1)
    late = full_disks.failing(budget.settle_call, 20, full_disks.raise_full_database)
    monkeypatch.setattr(budget, "settle_call", late)
    advance_case(case, tools)
    assert len(llm.calls) == 1
    assert LLMCall.objects.get().status == LLMCall.Status.SUCCEEDED
    assert Case.objects.get(pk=case.pk).stage == Stage.SETTLED
    tally = Tally.objects.get(build=build)
    assert (tally.calls, tally.reserved, tally.abandoned) == (1, 0, 0)


@pytest.mark.parametrize("fail", [full_disks.raise_full_database, full_disks.fill_file])
def test_however_often_the_disk_is_full_no_case_is_abandoned(
    fail: Callable[[], None], tools_with: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, llm = tools_with(YES)
    build = factories.opened()
    late = full_disks.failing(labels.publish_case, TRIES + 2, fail)
    monkeypatch.setattr(labels, "publish_case", late)
    for _ in range(TRIES + 3):
        make_due(build)
        [case] = claims.claim_cases("llm", 1)
        advance_case(case, tools)
        case.refresh_from_db()
        assert (case.lease, case.attempts) == (None, 0)
    assert (case.stage, len(llm.calls), Label.objects.count()) == (Stage.SETTLED, 1, 1)


def test_a_case_is_given_back_once_there_is_room_to_say_so(
    tools_with: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, _ = tools_with(YES)
    factories.opened()
    [case] = claims.claim_cases("llm", 1)
    monkeypatch.setattr(budget, "reserve_call", full_disks.failing(lambda: None, 99, full_disks.fill_file))
    late = full_disks.failing(Case.put_back, 5, full_disks.raise_full_database)
    monkeypatch.setattr(Case, "put_back", lambda self, **named: late(self, **named))
    advance_case(case, tools)
    case.refresh_from_db()
    assert (case.stage, case.lease, case.attempts) == (Stage.SCREENING, None, 0)


def test_a_sandbox_without_room_says_nothing_of_the_program(tools_with: Make) -> None:
    class Full(FakeSandbox):
        def run(self, *_: Any) -> Any:
            raise SandboxUnavailable(NO_PACKAGES)

    tools, _ = tools_with(box=Full())
    build = factories.opened()
    case = factories.cases(build)[0]
    program = factories.program_for(case)
    for _ in range(TRIES + 1):
        Case.objects.filter(pk=case.pk).update(stage=Stage.EXECUTING, program=program, next_attempt_at=None)
        [taken] = claims.claim_cases("sandbox", 1)
        advance_case(taken, tools)
        taken.refresh_from_db()
        assert (taken.stage, taken.attempts, taken.lease) == (Stage.EXECUTING, 0, None)
    assert Tally.objects.get(build=build).sandbox_errors == 0


def test_a_mining_and_a_job_whose_children_had_no_room_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    build, job = factories.launched(), factories.import_job()
    monkeypatch.setattr(subprocesses, "run_child_command", lambda command, still_wanted: EXIT_STATUS)
    assert (subprocesses.mine_one(), subprocesses.perform_one_job(Job.Kind.IMPORT)) == (1, 1)
    job.refresh_from_db()
    assert Mining.objects.get(builds=build).state == Mining.State.WAITING
    assert (job.state, job.message) == (Job.State.WAITING, subprocesses.NO_ROOM)


def test_what_fills_the_disk_by_itself_waits_for_more_room_than_it_had(
    room: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    room[0] = 10**9
    assert full_disk.may_have_room("job 1")
    full_disk.note_lack("job 1", room[0])
    assert (full_disk.may_have_room("job 1"), full_disk.may_have_room("job 2")) == (False, True)
    room[0] += 1
    assert full_disk.may_have_room("job 1")
    room[0] -= 1
    now[0] += full_disk.SECONDS_UNTIL_TRIED_ANYWAY
    assert full_disk.may_have_room("job 1")


def test_what_had_no_room_because_of_others_goes_on_as_soon_as_there_is_any(room: list[int]) -> None:
    full_disk.note_lack("job 1", 10**9)  # no room is left after it has ended
    room[0] = 10**8
    assert full_disk.may_have_room("job 1")


def test_a_job_that_fills_the_disk_is_not_begun_again_at_once(
    room: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocesses, "find_free_bytes", lambda folder: room[0])
    monkeypatch.setattr(subprocesses, "run_child_command", lambda command, still_wanted: EXIT_STATUS)
    room[0] = 10**9
    build, job = factories.launched(), factories.import_job()

    def begin() -> tuple[int, int]:
        return subprocesses.mine_one(), subprocesses.perform_one_job(Job.Kind.IMPORT)

    assert [begin(), begin()] == [(1, 1), (0, 0)]
    room[0] *= 2
    assert begin() == (1, 1)
    assert (Mining.objects.get(builds=build).state, Job.objects.get(pk=job.pk).state) == (
        "waiting",
        "waiting",
    )


def test_a_job_that_goes_on_no_longer_says_that_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    job = factories.import_job(message=subprocesses.NO_ROOM)
    said: list[str] = []

    def child(command: list[str], still_wanted: Callable[[], bool]) -> int:
        said.append(Job.objects.get(pk=job.pk).message)
        return EXIT_STATUS

    monkeypatch.setattr(subprocesses, "run_child_command", child)
    subprocesses.perform_one_job(Job.Kind.IMPORT)
    assert said == [""]


def test_after_a_full_disk_nobody_is_taken_for_dead_until_all_had_time_to_store(
    tools_with: Make, room: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(full_disk, "gate", full_disk.Gate())
    tools, _ = tools_with(YES)
    factories.opened()
    room[0] = 10**12
    [case] = claims.claim_cases("llm", 1)
    Case.objects.filter(pk=case.pk).update(lease_until=timezone.now())  # the disk was full for longer
    full_disk.gate.shut("full", is_of_database=True)
    now[0] += full_disk.gate.pause
    worker.drain_queue("control", tools)
    assert Case.objects.get(pk=case.pk).lease == case.lease
    now[0] += 2 * full_disk.LONGEST_PAUSE_SECONDS + 1
    worker.drain_queue("control", tools)
    assert Case.objects.get(pk=case.pk).lease is None


def test_a_worker_that_meets_a_full_disk_takes_no_work_for_longer_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(full_disk, "FIRST_PAUSE_SECONDS", 2.0)
    gate, pauses = full_disk.Gate(), list[float]()
    for _ in range(7):
        gate.shut("full")
        gate.shut("another thread says so, too")
        assert gate.look() == "full"
        pauses.append(gate.pause)
        now[0] = gate.shut_until
    assert pauses == [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]
    now[0] += 1000.0
    gate.shut("full")
    assert gate.pause == 2.0


def test_an_error_of_the_provider_is_no_full_disk() -> None:
    assert not full_disk.note_full_disk(LLMError("overloaded", retryable=True))
    assert not full_disk.note_full_disk(OSError(errno.EIO, "Input/output error"))
    assert full_disk.has_room()


def test_an_unforeseen_full_disk_ends_no_worker(tools_with: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full_disk, "FIRST_PAUSE_SECONDS", 7.0)
    monkeypatch.setattr(claims, "claim_cases", lambda *_: full_disks.raise_full_database())
    assert worker.drain_queue("llm", tools_with(YES)[0]) == 0
    assert full_disk.gate.pause == full_disk.FIRST_PAUSE_SECONDS
