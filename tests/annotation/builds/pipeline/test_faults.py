"""What goes wrong between the steps: nothing is stuck, nothing is paid twice, nothing becomes a label."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from annotation.builds.control.pause_resume import retry_abandoned
from annotation.builds.pipeline import claims, labels, llm_calls
from annotation.builds.pipeline.advance import TRIES, Tools, advance_case
from annotation.jobs import subprocesses, worker
from annotation.llm import LLMError
from annotation.models import Build, Case, ExecutionRequest, LLMCall, Tally
from annotation.stages import Stage
from retrieval.models import Job, Label, Mining
from tests import factories
from tests.fakes import FakeLLM, FakeSandbox

pytestmark = pytest.mark.django_db

Make = Callable[..., tuple[Tools, FakeLLM]]
Fresh = Callable[[Case], Case]
YES = {"verdict": 1, "explanation": "plain to see"}
BAD = {"verdict": 0.7, "explanation": "between"}


class Killed(BaseException):
    """The process is gone."""


def one_case() -> Case:
    return factories.cases(factories.opened())[0]


def due(case: Case) -> None:
    Case.objects.filter(pk=case.pk).update(next_attempt_at=None)


def test_a_reply_that_was_stored_before_the_worker_was_killed_is_used_and_not_paid_again(
    tools_with: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, llm = tools_with(YES)
    build = factories.opened()
    [case] = claims.claim_cases("llm", 1)

    def killed(*_: Any, **__: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Case, "move", killed)
        with pytest.raises(Killed):
            advance_case(case, tools)
    claims.expire_leases(timezone.now() + claims.LEASE + timedelta(seconds=1))
    [again] = claims.claim_cases("llm", 1)
    assert again.pk == case.pk
    advance_case(again, tools)
    assert (Case.objects.get(pk=case.pk).stage, len(llm.calls)) == (Stage.SETTLED, 1)
    tally = Tally.objects.get(build=build)
    assert (tally.calls, tally.settled, tally.reserved) == (1, 1, 0)


def test_a_settling_that_was_rolled_back_is_tried_again_and_then_abandoned(
    tools_with: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(case: Case) -> None:
        raise OperationalError("the disk is full")

    monkeypatch.setattr(labels, "publish_case", broken)
    tools, _ = tools_with(YES)
    factories.opened()
    for _ in range(TRIES):
        [case] = claims.claim_cases("llm", 1)
        advance_case(case, tools)
        case.refresh_from_db()
        assert (case.lease, case.label) == (None, None)
        due(case)
    assert case.stage == Stage.ABANDONED
    assert not Label.objects.exists()


@pytest.mark.parametrize("answer", [BAD, LLMError("refused", retryable=False)])
def test_a_case_that_was_lost_meanwhile_is_not_abandoned_by_the_loser(
    answer: Any, tools_with: Make, fresh: Fresh
) -> None:
    factories.opened()
    tools, _ = tools_with(answer)
    [case] = claims.claim_cases("llm", 1)
    Case.objects.filter(pk=case.pk).update(lease=None, lease_until=None)  # it took too long
    advance_case(case, tools)
    assert fresh(case).stage == Stage.SCREENING


def test_what_a_failure_of_the_database_leaves_undone_is_given_back_at_once(
    tools_with: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(case: Case, tools: Tools) -> None:
        raise OperationalError("the database went away")

    monkeypatch.setattr(worker, "advance_case", unreachable)
    factories.opened()
    with pytest.raises(OperationalError):
        worker.drain_queue("llm", tools_with(YES)[0])
    assert Case.objects.filter(lease__isnull=False).count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_database_that_was_started_anew_leaves_nothing_leased(
    tools_with: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(call: LLMCall) -> str:
        connection.connection.close()
        raise OperationalError("terminating connection")

    monkeypatch.setattr(llm_calls, "reply_text_of_call", broken)
    tools, _ = tools_with(YES)
    factories.opened()
    worker.drain_queue("llm", tools)
    assert not Case.objects.filter(lease__isnull=False).exists()


@pytest.mark.django_db(transaction=True)
def test_a_handful_is_given_back_over_another_connection(
    tools_with: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(case: Case, until: Any) -> bool:
        connection.connection.close()
        raise OperationalError("terminating connection")

    monkeypatch.setattr(Case, "renew", broken)
    factories.opened()
    with pytest.raises(OperationalError):
        worker.drain_queue("llm", tools_with(YES)[0])
    assert Case.objects.filter(lease__isnull=False).count() == 1


@pytest.mark.parametrize("seconds", [1e12, 1e300])
def test_a_provider_that_asks_for_centuries_gets_an_hour(
    seconds: float, tools_with: Make, fresh: Fresh
) -> None:
    tools, _ = tools_with(LLMError("busy", retryable=True, retry_after=seconds))
    case = one_case()
    advance_case(fresh(case), tools)
    at = fresh(case).next_attempt_at
    assert at is not None
    assert timedelta(minutes=50) < at - timezone.now() < timedelta(minutes=61)


def test_a_providers_words_can_not_keep_a_build_from_being_stopped(tools_with: Make, fresh: Fresh) -> None:
    tools, _ = tools_with(LLMError("no\x00key \ud800", retryable=False, provider=True))
    case = one_case()
    advance_case(fresh(case), tools)
    build = Build.objects.get(pk=case.build_id)
    assert build.state == Build.State.WAITING
    assert "\x00" not in build.reason


def test_a_retry_asks_anew_where_the_answer_was_of_no_use(tools_with: Make, fresh: Fresh) -> None:
    tools, llm = tools_with(BAD, BAD, YES)
    case = one_case()
    advance_case(fresh(case), tools)
    assert fresh(case).stage == Stage.ABANDONED
    assert retry_abandoned(case.build) == 1
    advance_case(fresh(case), tools)
    assert (fresh(case).stage, len(llm.calls)) == (Stage.SETTLED, 3)


def test_a_build_is_not_done_while_a_person_sends_cases_back() -> None:
    build = factories.opened()
    for case in factories.cases(build):
        factories.abandoned(case)
    looked = Build.objects.select_related("mining", "tally").get(pk=build.pk)
    retry_abandoned(build)
    worker.look_after(looked)
    assert Build.objects.get(pk=build.pk).state == Build.State.RUNNING


def test_cases_that_go_back_open_a_build_that_was_just_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    build = factories.opened()
    for case in factories.cases(build):
        factories.abandoned(case)
    stale = Build.objects.get(pk=build.pk)
    Build.objects.update(state=Build.State.DONE, finished_at=timezone.now())
    monkeypatch.setattr(stale, "refresh_from_db", lambda: None)  # it was read just before
    retry_abandoned(stale)
    assert Build.objects.get(pk=build.pk).state == Build.State.RUNNING


def test_a_mining_that_fails_twice_does_not_fail_a_build_that_has_its_cases() -> None:
    build = factories.opened()
    Mining.objects.update(state=Mining.State.FAILED, message="a second process was beaten to it")
    worker.look_after(Build.objects.select_related("mining", "tally").get(pk=build.pk))
    assert Build.objects.get(pk=build.pk).state == Build.State.RUNNING


def test_a_request_that_breaks_the_workbench_fails_once_and_is_not_asked_for_ever(
    tools_with: Make, caplog: pytest.LogCaptureFixture
) -> None:
    case = one_case()
    program = factories.program_for(case)
    request = ExecutionRequest.objects.create(program=program, user=factories.erin())
    tools, _ = tools_with(YES, box=FakeSandbox(RuntimeError("a \x00bug")))
    worker.drain_queue("interactive", tools)
    request.refresh_from_db()
    assert (request.state, request.lease_until) == (ExecutionRequest.State.FAILED, None)
    assert "bug" in request.message
    assert "bug" in caplog.text


def test_a_child_ends_with_the_worker_that_started_it() -> None:
    program = (
        "import time\n"
        "from retrieval.management import leash\n"
        "leash.end_with_parent({'end_with_parent': True})\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    root = Path(__file__).resolve().parents[4]
    child = subprocess.Popen(
        [sys.executable, "-c", program], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with child:
        assert child.stdout is not None and child.stdin is not None
        assert child.stdout.readline() == b"ready\n"
        child.stdin.close()  # as when the worker is killed
        assert child.wait(timeout=60) == 1


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_slow_and_one_that_took_over_do_not_both_book(tools_with: Make) -> None:
    build = factories.opened()
    tools, llm = tools_with(YES)
    [slow] = claims.claim_cases("llm", 1)
    claims.expire_leases(timezone.now() + claims.LEASE + timedelta(seconds=1))
    [quick] = claims.claim_cases("llm", 1)

    def work(case: Case) -> None:
        advance_case(case, tools)
        connection.close()

    threads = [threading.Thread(target=work, args=(case,)) for case in (slow, quick)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(llm.calls) == LLMCall.objects.count() == 1
    tally = Tally.objects.get(build=build)
    assert (tally.calls, tally.settled + tally.screening) == (1, 9)
    assert tally.settled == Label.objects.count() <= 1


@pytest.mark.parametrize(
    ("ended", "state"),
    [
        (-signal.SIGINT, Mining.State.WAITING),
        (-signal.SIGTERM, Mining.State.WAITING),
        (-signal.SIGKILL, Mining.State.FAILED),
        (1, Mining.State.FAILED),
    ],
)
def test_a_mining_that_is_stopped_with_the_service_is_not_failed(
    ended: int, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = factories.launched()
    job = factories.import_job()
    monkeypatch.setattr(subprocesses, "run_child_command", lambda command, still_wanted: ended)
    assert subprocesses.mine_one() == subprocesses.perform_one_job(Job.Kind.IMPORT) == 1
    assert Mining.objects.get(builds=build).state == state
    job.refresh_from_db()
    assert job.state == state


def test_whoever_works_alone_takes_up_at_once_what_the_dead_one_mined_and_imported() -> None:
    later = timezone.now() + timedelta(minutes=1)
    build = factories.launched()
    Mining.objects.filter(builds=build).update(state=Mining.State.RUNNING, lease_until=later)
    job = factories.import_job(state="running", lease_until=later)
    claims.free_all()
    job.refresh_from_db()
    for lease in (Mining.objects.get(builds=build).lease_until, job.lease_until):
        assert lease is not None
        assert lease <= timezone.now()


def test_a_case_whose_lease_ran_out_behind_a_slow_one_is_left_to_whoever_has_it(
    tools_with: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    advanced: list[Case] = []

    def slow(case: Case, tools: Tools) -> None:
        advanced.append(case)
        claims.expire_leases(timezone.now() + claims.LEASE + timedelta(seconds=1))

    monkeypatch.setattr(worker, "advance_case", slow)
    factories.opened()
    worker.drain_queue("llm", tools_with(YES)[0])
    assert len(advanced) == 1


def test_every_case_of_a_handful_has_a_whole_lease(tools_with: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[timedelta] = []

    def look(case: Case, tools: Tools) -> None:
        until = Case.objects.get(pk=case.pk).lease_until
        assert until is not None
        left.append(until - timezone.now())
        Case.objects.filter(lease__isnull=False).update(lease_until=timezone.now() + timedelta(seconds=1))

    monkeypatch.setattr(worker, "advance_case", look)
    factories.opened()
    worker.drain_queue("llm", tools_with(YES)[0])
    assert len(left) == worker.HANDFUL["llm"]
    assert min(left) > claims.LEASE - timedelta(seconds=30)
