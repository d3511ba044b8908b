"""What is taken over of cases that went a longer way: an installation refused, a test that tested nothing."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.builds.pipeline.execution import SandboxProvider, repeat_execution
from annotation.derived.derivation import Decision
from annotation.derived.rerun import launch
from annotation.derived.rerun.launch import Again
from annotation.models import Build, Case, Execution, ExecutionRequest, Step, Tally
from annotation.stages import Stage
from sandbox.program import Limits
from sandbox.reports.report import Outcome
from tests import factories
from tests.annotation.builds.pipeline.test_advance import NO, WRITTEN
from tests.annotation.derived.rerun.test_doing import Agents, again, finished
from tests.annotation.jobs.test_worker import in_process  # noqa: F401  (a fixture)
from tests.annotation.models.reviews.test_contradictions import meanwhile
from tests.factories import a_report
from tests.fakes import FakeSandbox

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("in_process")]
MISSING = a_report(Outcome.ERRORED, assertions=(), missing_module="bs4", detail="no module named bs4")
NOTHING = a_report(Outcome.UNTESTED, assertions=(), detail="it ended without evaluating an assertion")
COUNTS = ("unclear", "written", "programs", "ran", "asserted", "touched", "test_cases", "settled", "total")
SECOND = ("second_tests", "second_touched")


def refused_agents(**replies: Any) -> Agents:
    """A module that no sandbox has, and a fixer whose suggestion is no plain install."""
    agents = Agents(fixer={"commands": ["rm -rf /"]}, **replies)
    agents.sandbox = FakeSandbox(MISSING)
    return agents


def untested_agents(**replies: Any) -> Agents:
    """A first test of each snippet that tests nothing, and a second one that passes."""
    agents = Agents(**replies)
    second = WRITTEN | {"program": "def main():\n    assert callable(reverse)\n\n\nmain()\n"}
    usual = agents.answer

    def answer(request: Any) -> dict[str, Any]:
        nothing_yet = "ended without evaluating" not in request.canonical()
        return usual(request) if request.agent != "test_writer" or nothing_yet else second

    agents.llm._answers[0] = answer
    agents.sandbox = FakeSandbox(lambda program: a_report() if "callable" in program.source else NOTHING)
    return agents


def events(build: Build) -> list[list[str]]:
    cases = Case.objects.filter(build=build).order_by("query", "rank")
    return [list(case.steps.order_by("number").values_list("event", flat=True)) for case in cases]


def totals(build: Build, names: tuple[str, ...] = COUNTS) -> list[int]:
    tally = Tally.objects.get(build=build)
    return [getattr(tally, name) for name in names]


def refused() -> Build:
    return finished(work=refused_agents())


def untested() -> Build:
    return finished(work=untested_agents(), second_test=True)


def test_a_refused_installation_is_evidence_that_an_arbiter_is_given_again() -> None:
    old = refused()
    assert {way[-2] for way in events(old)} == {"refused"}
    build = again(old, Stage.ARBITRATING)
    agents = refused_agents(arbiter=NO)
    agents.work()
    assert (agents.asked(), agents.sandbox.runs) == ({"arbiter": 6}, [])
    assert [way[:-1] for way in events(build)] == [way[:-1] for way in events(old)]
    assert totals(build) == totals(old)
    for case in Case.objects.filter(build=build):
        assert (case.missing_module, case.label) == ("bs4", 0)
        assert case.execution is not None and not case.execution.ran


def test_executing_anew_finds_out_again_what_is_missing() -> None:
    old = refused()
    build = again(old, Stage.EXECUTING)
    agents = Agents(fixer={"commands": ["pip install bs4"]})
    agents.work()
    assert set(agents.asked()) == {"arbiter"}, "the module is there now, so nobody is asked to fix anything"
    assert {tuple(way) for way in events(build)} == {("unclear", "written", "executed", "accepted")}
    assert Tally.objects.get(build=build).ran == 6
    assert Tally.objects.get(build=build).programs == 6
    assert not Case.objects.filter(build=build).exclude(missing_module="").exists()


def test_a_second_test_is_taken_over_with_the_first_one() -> None:
    old = untested()
    assert {way.count("tested_nothing") for way in events(old)} == {1}
    build = again(old, Stage.ARBITRATING)
    agents = untested_agents(arbiter=NO)
    agents.work()
    assert (agents.asked(), agents.sandbox.runs) == ({"arbiter": 6}, [])
    assert [way[:-1] for way in events(build)] == [way[:-1] for way in events(old)]
    assert totals(build, COUNTS + SECOND) == totals(old, COUNTS + SECOND)
    assert set(Case.objects.filter(build=build).values_list("tested_again", flat=True)) == {True}


def test_a_second_test_that_is_executed_anew_is_not_followed_by_a_third() -> None:
    old = untested()
    build = again(old, Stage.EXECUTING)
    agents = Agents()
    agents.sandbox = FakeSandbox(NOTHING)
    agents.work()
    assert agents.asked() == {"arbiter": 6}
    assert [way[-2] for way in events(build)] == ["executed"] * 6
    assert totals(build, SECOND) == [6, 0]
    assert totals(build, ("programs", "written")) == totals(old, ("programs", "written"))


def test_writing_anew_begins_with_a_first_test() -> None:
    old = untested()
    build = again(old, Stage.WRITING_TEST)
    agents = untested_agents()
    agents.work()
    assert agents.asked() == {"test_writer": 12, "arbiter": 6}
    assert totals(build, COUNTS + SECOND) == totals(old, COUNTS + SECOND)
    steps = Step.objects.filter(case__build=build, event="tested_nothing", seconds=None)
    assert not steps.exists(), "none of them was taken over"


def test_of_two_that_run_tests_again_at_once_each_has_reports_of_its_own() -> None:
    """Pairs with the same snippet and test share a report."""
    old, run = finished(), Execution.objects.count()
    factories.ada()
    meanwhile(lambda: executed(old, "one"), lambda: executed(old, "other"))
    numbers = Build.objects.exclude(pk=old.pk).values_list("annotator__config__repeat", flat=True)
    assert sorted(numbers) == [2, 3]
    agents = Agents()
    agents.work()
    assert (len(agents.sandbox.runs), Execution.objects.count()) == (2 * run, 3 * run)


def test_a_report_of_a_person_is_no_report_of_running_again() -> None:
    old, run = finished(), Execution.objects.count()
    program = old.cases.first().program  # type: ignore[union-attr]
    request = ExecutionRequest(program=program, user=factories.erin())
    assert repeat_execution(request, SandboxProvider(FakeSandbox), Limits()).repeat == 2
    executed(old, "again")
    agents = Agents()
    agents.work()
    assert len(agents.sandbox.runs) == run


def executed(build: Build, name: str) -> Build:
    plan = launch.plan_rerun(build, build.cases.all(), Again(name, Stage.EXECUTING))
    return plan.launch(Decision(factories.ada(), "to see"))
