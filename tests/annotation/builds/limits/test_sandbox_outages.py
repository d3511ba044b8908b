"""A sandbox that is away: the build waits and goes on by itself; a program that loses its own is given up."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.abandonment import Cause, describe_abandonment_cause
from annotation.builds.control.pause_resume import Action, control_build
from annotation.builds.limits import circuit_breaker
from annotation.builds.limits.circuit_breaker import FIRST_PAUSE, LONGEST_PAUSE, RUN
from annotation.builds.pipeline import claims
from annotation.builds.pipeline.advance import TRIES, Tools
from annotation.builds.pipeline.execution import HARMLESS
from annotation.jobs import worker
from annotation.llm import LLMError
from annotation.models import Build, Case, Tally
from annotation.stages import Event, Stage
from retrieval.models import Label
from sandbox.program import Program
from sandbox.reports.report import Outcome, Report
from sandbox.runner import SandboxUnavailable
from tests import factories
from tests.fakes import FakeLLM, FakeSandbox, passed

pytestmark = pytest.mark.django_db

Make = Callable[..., tuple[Tools, FakeLLM]]
YES = {"verdict": 1, "explanation": "the test shows it"}
GONE = "no Docker engine answers"
NEVER = "assert never() == 1\n"


class Engine:
    """A sandbox that can go away, and in which one program loses its container each time."""

    def __init__(self) -> None:
        self.is_there = True
        self.box = FakeSandbox(self.run)

    def run(self, program: Program) -> Report:
        if not self.is_there:
            raise SandboxUnavailable(GONE)
        if program.source == NEVER:
            return Report(Outcome.UNAVAILABLE, detail="the container was lost", backend="fake")
        return passed()


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def tools(tools_with: Make, engine: Engine) -> Tools:
    return tools_with(YES, box=engine.box)[0]


def executing(sources: list[str] | None = None) -> Build:
    """A build whose cases are all to be executed, each with a program of its own."""
    build = factories.opened()
    for number, case in enumerate(factories.cases(build)):
        source = f"assert f({number}) == 1\n"
        if sources and number < len(sources):
            source = sources[number]
        program = factories.program_for(case, source)
        case.move(Event.UNCLEAR, note="")
        case.move(Event.WRITTEN, note="", program=program, program_id=program.pk)
    return build


def work(tools: Tools, times: int, queue: str = "sandbox") -> None:
    """So many rounds of a worker, with every pause of a case over."""
    for _ in range(times):
        Case.objects.update(next_attempt_at=None)
        worker.drain_queue(queue, tools)


def waiting(tools: Tools, engine: Engine) -> Build:
    """A build that waits since the engine went away."""
    build = executing()
    engine.is_there = False
    work(tools, RUN)
    build.refresh_from_db()
    return build


def now_due() -> None:
    Build.objects.filter(next_probe_at__isnull=False).update(next_probe_at=timezone.now())


def state_of(build: Build) -> str:
    build.refresh_from_db()
    return build.get_state_display().lower()


def test_a_sandbox_that_is_away_makes_the_build_wait_and_no_case_loses_a_try(
    tools: Tools, engine: Engine
) -> None:
    build = waiting(tools, engine)
    assert (build.state, build.get_state_display()) == (Build.State.WAITING, "waiting for the sandbox")
    assert build.reason == GONE and build.waiting_since is not None
    assert {(case.stage, case.attempts, case.lease) for case in Case.objects.all()} == {
        (Stage.EXECUTING, 0, None)
    }
    runs = len(engine.box.runs)
    work(tools, 3)
    assert len(engine.box.runs) == runs, "nothing is tried before its time"
    assert build.events.get(event="waits for the sandbox").note == GONE


def test_when_it_is_back_the_build_goes_on_and_says_how_long_it_waited(tools: Tools, engine: Engine) -> None:
    build = waiting(tools, engine)
    Build.objects.update(waiting_since=timezone.now() - timedelta(minutes=12))
    engine.is_there = True
    now_due()
    work(tools, 1)
    assert state_of(build) == "running"
    assert (build.waiting_since, build.next_probe_at, build.waits_for) == (None, None, "provider")
    note = build.events.get(event="continues by itself").note
    assert note == "the sandbox runs programs again, after 12 minutes and 1 try"
    work(tools, 5)
    work(tools, 5, "llm")
    tally = Tally.objects.get(build=build)
    assert (tally.settled, tally.abandoned, tally.sandbox_errors) == (9, 0, 0)


def test_pauses_grow_up_to_the_longest(tools: Tools, engine: Engine) -> None:
    build = waiting(tools, engine)
    for number in range(1, 9):
        now_due()
        work(tools, 1)
        build.refresh_from_db()
        expected = min(FIRST_PAUSE * 2**number, LONGEST_PAUSE)
        assert build.next_probe_at is not None
        assert expected - timedelta(seconds=5) < build.next_probe_at - timezone.now() <= expected
        assert (build.state, build.probe_count) == (Build.State.WAITING, number)
    assert not Case.objects.exclude(stage=Stage.EXECUTING).exists()


def test_a_run_that_succeeds_ends_the_series(tools: Tools, engine: Engine) -> None:
    build = executing()
    for _ in range(3):
        engine.is_there = False
        while Tally.objects.get(build=build).sandbox_errors < RUN - 2:
            work(tools, 1)
        engine.is_there = True
        work(tools, 1)
        assert Tally.objects.get(build=build).sandbox_errors == 0
    assert state_of(build) == "running"


def test_a_program_that_loses_its_own_sandbox_is_abandoned_alone(tools: Tools, engine: Engine) -> None:
    build = executing([NEVER])
    work(tools, 20)
    work(tools, 5, "llm")
    case = Case.objects.get(stage=Stage.ABANDONED)
    assert case.program is not None and case.program.source.text == NEVER
    assert case.reason == "the sandbox could not run the test program: the container was lost"
    assert [run.source for run in engine.box.runs].count(NEVER) == TRIES
    tally = Tally.objects.get(build=build)
    assert (tally.settled, tally.abandoned, Label.objects.count()) == (8, 1, 8)
    assert state_of(build) in ("running", "done")


def test_its_tries_are_counted_only_while_the_sandbox_is_there(tools: Tools, engine: Engine) -> None:
    build = executing([NEVER])
    engine.is_there = False
    work(tools, RUN)
    engine.is_there = True
    now_due()
    work(tools, 1)  # the try falls to the first case, and it is another program that tells
    assert state_of(build) == "running"
    assert engine.box.runs[-1] == HARMLESS
    assert Case.objects.order_by("pk")[0].attempts == 1


def test_what_was_executed_before_says_nothing_about_the_sandbox_now(tools: Tools, engine: Engine) -> None:
    build = waiting(tools, engine)
    first = Case.objects.order_by("pk").select_related("program__source", "pair__snippet__body")[0]
    assert first.program is not None
    factories.execution(first.program)
    now_due()
    work(tools, 1)
    assert state_of(build) == "waiting for the sandbox"
    assert Case.objects.get(pk=first.pk).stage == Stage.ARBITRATING
    assert build.next_probe_at is not None and build.next_probe_at <= timezone.now(), (
        "the next case is tried at once"
    )


def test_only_a_worker_with_a_sandbox_tries_it(tools: Tools, engine: Engine) -> None:
    build = waiting(tools, engine)
    engine.is_there = True
    now_due()
    work(tools, 1, "llm")
    assert state_of(build) == "waiting for the sandbox"
    assert claims.claim_probe("llm") is None
    assert [due.pk for due in circuit_breaker.find_builds_to_probe("sandbox")] == [build.pk]
    assert not circuit_breaker.find_builds_to_probe("llm").exists()


def test_an_outage_of_the_provider_meanwhile_changes_nothing(tools: Tools, engine: Engine) -> None:
    build = waiting(tools, engine)
    for _ in range(RUN):
        circuit_breaker.record_provider_error(build, LLMError("overloaded", retryable=True, status=529))
    assert state_of(build) == "waiting for the sandbox" and build.reason == GONE


def test_a_person_decides_otherwise(tools: Tools, engine: Engine) -> None:
    build = waiting(tools, engine)
    control_build(build, Action.RESUME, factories.ada())
    assert (state_of(build), build.waits_for) == ("running", "provider")
    control_build(build, Action.PAUSE, factories.ada())
    assert state_of(build) == "paused"


def test_working_until_idle_does_not_wait_for_a_sandbox(tools: Tools, engine: Engine) -> None:
    waiting(tools, engine)
    assert not worker.has_queued_work()


def test_an_index_that_is_away_abandons_a_group_that_says_what_to_do_and_comes_back(
    tools: Tools, engine: Engine
) -> None:
    away = "installing bs4==4.12 failed: ERROR: Could not fetch URL https://pypi.org/simple/bs4/: no route"
    ran = engine.box._reports[0]

    def needs_the_index(program: Program) -> Report:
        if "f(0)" in program.source or "f(1)" in program.source:
            raise SandboxUnavailable(away)
        return passed()

    engine.box._reports[0] = needs_the_index
    build = executing()
    work(tools, TRIES + 2)
    work(tools, 2, "llm")
    build.refresh_from_db()
    assert build.state == Build.State.RUNNING, "it is no outage: other programs run"
    found = Case.objects.filter(build=build, stage=Stage.ABANDONED)
    assert set(found.values_list("cause", flat=True)) == {Cause.INSTALLING}
    assert found.count() == 2 and "installing bs4==4.12 failed" in found[0].reason
    assert "package index" in describe_abandonment_cause(Cause.INSTALLING)[1]
    engine.box._reports[0] = ran
    assert control_build(build, Action.RETRY, cause=Cause.INSTALLING) == 2
    work(tools, 4)
    work(tools, 4, "llm")
    assert Tally.objects.get(build=build).settled == 9
