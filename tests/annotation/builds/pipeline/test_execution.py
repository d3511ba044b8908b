"""Nothing is executed where a required protection is missing, and the dashboard's row says so."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.db import IntegrityError
from django.utils import timezone

from annotation.builds.pipeline import execution
from annotation.builds.pipeline.advance import Tools, advance_case
from annotation.builds.pipeline.execution import Found, SandboxProvider, fulfil_one, keep_found
from annotation.models import Build, Case, Execution, ExecutionRequest, SandboxCheck
from annotation.stages import Stage
from retrieval.models import Label
from sandbox.backends.checks import ProtectionMissing
from sandbox.program import Limits, Program
from sandbox.protocol import Check
from sandbox.reports.report import Outcome
from sandbox.runner import SandboxUnavailable
from tests import factories
from tests.annotation.models.reviews.test_contradictions import meanwhile
from tests.fakes import FakeLLM, FakeSandbox

pytestmark = pytest.mark.django_db


class Leaky(FakeSandbox):
    """Its network is open until somebody mends it."""

    mended = False

    def check(self) -> tuple[Check, ...]:
        return (Check("no network", self.mended, "reached"), Check("kernel", True, "6.1", required=False))


@pytest.fixture
def found() -> list[Found]:
    return []


@dataclass
class Clock:
    """Stands still unless it is told how much time went by."""

    now: float = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(execution, "time", clock)
    return clock


def provider_of(sandbox: FakeSandbox, found: list[Found]) -> SandboxProvider:
    return SandboxProvider(lambda: sandbox, found.append)


def test_a_sandbox_is_checked_before_it_is_used_and_once_an_hour(
    found: list[Found], monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = FakeSandbox()
    provider = provider_of(sandbox, found)
    assert provider.get() is provider.get() is sandbox
    assert found == [Found("fake", "fake", sandbox.check())]
    monkeypatch.setattr(execution, "SECONDS_BETWEEN_CHECKS", 0.0)
    assert provider.reap() == 0
    assert len(found) == 2


def test_without_a_required_protection_there_is_no_sandbox(found: list[Found]) -> None:
    sandbox = Leaky()
    provider = provider_of(sandbox, found)
    for _ in range(2):
        with pytest.raises(ProtectionMissing, match=r"no network \(reached\)"):
            provider.get()
    assert sandbox.closed and sandbox.runs == []
    assert [(one.backend, "no network" in one.failure, len(one.checks)) for one in found] == [
        ("fake", True, 2)
    ]


def test_a_protection_that_goes_missing_ends_the_use(
    found: list[Found], monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = Leaky()
    sandbox.mended = True
    provider = provider_of(sandbox, found)
    provider.get()
    sandbox.mended = False
    monkeypatch.setattr(execution, "SECONDS_BETWEEN_CHECKS", 0.0)
    with pytest.raises(ProtectionMissing):
        provider.get()
    assert sandbox.closed
    assert provider.reap() == 0


def test_a_mended_sandbox_is_used_again(found: list[Found], clock: Clock) -> None:
    sandbox = Leaky()
    provider = provider_of(sandbox, found)
    assert provider.watch() == 0
    sandbox.mended = True
    clock.now += execution.SECONDS_BETWEEN_OPENINGS
    assert provider.get() is sandbox
    assert [bool(one.failure) for one in found] == [True, False]


def test_closing_waits_for_no_opening() -> None:
    opening, go_on = threading.Event(), threading.Event()

    def slow() -> FakeSandbox:
        opening.set()
        go_on.wait(60)
        return FakeSandbox()

    provider = SandboxProvider(slow)
    opener, closer = threading.Thread(target=provider.get), threading.Thread(target=provider.close)
    opener.start()
    assert opening.wait(60)
    closer.start()
    closer.join(20)
    closed_meanwhile = not closer.is_alive()
    go_on.set()
    opener.join(60)
    assert closed_meanwhile


def test_what_took_long_to_fail_is_left_alone_for_as_long(clock: Clock) -> None:
    tries = []

    def without_network() -> FakeSandbox:
        tries.append(clock.now)
        clock.now += 80
        raise SandboxUnavailable("pip reached no index")

    provider = SandboxProvider(without_network)
    for _ in range(4):
        with pytest.raises(SandboxUnavailable, match="no index"):
            provider.get()
        clock.now += 40
    assert tries == [0, 160]


def test_why_there_is_no_sandbox_at_all_is_noted(found: list[Found]) -> None:
    def nothing() -> FakeSandbox:
        raise SandboxUnavailable("install bubblewrap")

    assert SandboxProvider(nothing, found.append).watch() == 0
    assert found == [Found(failure="install bubblewrap")]


def test_cases_wait_and_nothing_is_labelled(fresh: Callable[[Case], Case]) -> None:
    llm = FakeLLM(
        {"verdict": 0.5, "explanation": "it depends"},
        {"program": "assert f(1) == 1", "reading": "the usual", "helpers": []},
    )
    tools = Tools(llm_of=lambda build: llm, sandbox=SandboxProvider(Leaky))
    case = factories.cases(factories.opened())[0]
    for _ in range(3):
        advance_case(fresh(case), tools)
    case = fresh(case)
    assert (case.stage, case.attempts, case.lease) == (Stage.EXECUTING, 0, None)
    assert case.build.state == Build.State.PAUSED
    assert "no network (reached)" in case.build.reason
    assert not Execution.objects.exists() and not Label.objects.exists()


def test_people_are_told_which_protection_is_missing() -> None:
    program = factories.program_for(factories.cases(factories.opened())[0])
    request = ExecutionRequest.objects.create(program=program, user=factories.erin())
    assert fulfil_one(SandboxProvider(Leaky), Limits())
    request.refresh_from_db()
    assert request.state == ExecutionRequest.State.FAILED
    assert "no network" in request.message


def test_each_machine_has_one_row_and_is_forgotten_after_a_day() -> None:
    old = timezone.now() - timedelta(days=2)
    SandboxCheck.objects.create(machine="gone", made_at=old)
    for failure in ("install\0it", ""):
        keep_found(Found("fake", "fake", FakeSandbox().check(), failure))
    row = SandboxCheck.objects.get()
    assert (row.backend, row.failure, row.checks[0]["name"]) == ("fake", "", "fake")
    assert timezone.now() - row.made_at < timedelta(minutes=1)


def kept(outcome: Outcome) -> Execution:
    inputs = Program(candidate="def one():\n    return 1\n", source="assert one() == 1\n")
    return execution.keep_anew(inputs, FakeSandbox(), Limits(), factories.a_report(outcome))


@pytest.mark.django_db(transaction=True)
def test_of_two_runs_at_once_each_has_its_own_number_and_report() -> None:
    meanwhile(lambda: kept(Outcome.PASSED), lambda: kept(Outcome.FAILED))
    rows = Execution.objects.order_by("repeat").values_list("repeat", "outcome")
    assert list(rows) == [(1, "passed"), (2, "failed")]


def test_a_number_that_was_left_out_is_no_reason_to_take_one_twice() -> None:
    first = kept(Outcome.PASSED)
    Execution.objects.filter(pk=first.pk).update(repeat=2)
    assert (kept(Outcome.FAILED).repeat, kept(Outcome.ERRORED).repeat) == (3, 4)


def test_a_row_that_the_database_refuses_otherwise_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "told_by", lambda *of: {"backend": None, "seconds": 1.0})
    with pytest.raises(IntegrityError):
        kept(Outcome.PASSED)
