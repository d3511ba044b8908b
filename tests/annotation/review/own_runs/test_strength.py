"""How many small faults of its candidate a test notices: asked for, run by a worker, counted."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from annotation.accounts.roles import Role
from annotation.builds.pipeline.execution import SandboxProvider, fulfil_one
from annotation.models import Case, Execution, Mutant, TestProgram, Trial
from annotation.review.own_runs import own_tests
from annotation.review.own_runs.own_tests import TooManyWaiting
from annotation.review.own_runs.strength import (
    NothingToChange,
    ask_strength,
    load_test_strengths,
)
from retrieval.models import Text
from sandbox.program import Limits, Program
from sandbox.protocol import Sandbox
from sandbox.reports.report import Outcome, Report
from sandbox.runner import SandboxUnavailable
from tests import factories
from tests.fakes import FakeSandbox, Ran
from tests.sandbox.conftest import bubblewrap, home

__all__ = ["bubblewrap", "home"]  # fixtures
pytestmark = pytest.mark.django_db


@pytest.fixture
def erin() -> User:
    return factories.erin()


@pytest.fixture
def case() -> Case:
    """A case settled with a test program; its candidate reverses a list and returns it."""
    return factories.examined(factories.cases(factories.opened())[0], 1)


@pytest.fixture
def program(case: Case) -> TestProgram:
    return read(case.program)


def read(program: TestProgram | None) -> TestProgram:
    assert program is not None
    return TestProgram.objects.select_related("pair__snippet__body", "source").get(pk=program.pk)


def work(*reports: Ran, times: int = 20) -> FakeSandbox:
    """Let a worker of the interactive queue do what waits."""
    sandbox = FakeSandbox(*reports)
    provider = SandboxProvider(open=lambda: sandbox)
    for _ in range(times):
        if not fulfil_one(provider, Limits()):
            break
    return sandbox


def caught_return(program: Program) -> Report:
    """A test that notices nothing but a missing result."""
    return factories.a_report(Outcome.FAILED if "return None" in program.candidate else Outcome.PASSED)


def test_the_test_runs_beside_the_candidate_and_each_fault(erin: User, program: TestProgram) -> None:
    assert not load_test_strengths([program])[program.pk].asked

    assert ask_strength(erin, program, ["six"]) == 3
    waiting = load_test_strengths([program])[program.pk]
    assert (waiting.asked, waiting.open, waiting.tried) == (True, 3, 0)

    sandbox = work(caught_return)
    found = load_test_strengths([program])[program.pk]
    assert (found.open, found.caught, found.tried) == (0, 1, 2)
    assert [(one.mutant.operator, one.mutant.line, one.caught) for one in found.tries] == [
        ("dropped statement", 2, False),
        ("return None", 3, True),
    ]
    assert {run.dependencies for run in sandbox.runs} == {("six",)}
    assert {run.source for run in sandbox.runs} == {program.source.text}
    assert len({run.candidate for run in sandbox.runs}) == 3


def test_what_is_stored_is_not_run_again(erin: User, program: TestProgram, case: Case) -> None:
    ask_strength(erin, program, case.dependencies)
    first = work()
    assert len(first.runs) == 2, "the candidate itself had run for the case"
    eve = factories.person("eve", Role.EXPERT)

    assert ask_strength(eve, program, case.dependencies) == 0
    assert Execution.objects.count() == 3
    assert not fulfil_one(SandboxProvider(open=FakeSandbox), Limits())
    assert load_test_strengths([program])[program.pk].tried == 2


def test_one_that_never_ends_is_caught(erin: User, program: TestProgram) -> None:
    ask_strength(erin, program, ["a"])
    work(factories.a_report(), factories.a_report(Outcome.TIMED_OUT), factories.a_report(Outcome.ERRORED))

    assert [one.caught for one in load_test_strengths([program])[program.pk].tries] == [True, True]


def test_what_could_not_be_run_says_nothing_and_is_asked_for_again(erin: User, program: TestProgram) -> None:
    ask_strength(erin, program, ["a"])
    work(factories.a_report(), SandboxUnavailable("gone"), factories.a_report(Outcome.FAILED))
    found = load_test_strengths([program])[program.pk]
    assert (found.tried, found.caught) == (1, 1)
    assert [one.trial.message for one in found.tries] == ["gone", ""]

    assert ask_strength(erin, program, ["a"]) == 1
    work(factories.a_report())
    assert [one.caught for one in load_test_strengths([program])[program.pk].tries] == [False, True]


def test_the_other_way_round_equal_outcomes_are_not_caught(erin: User, program: TestProgram) -> None:
    ask_strength(erin, program, ["a"])
    work(factories.a_report(Outcome.FAILED))

    assert load_test_strengths([program])[program.pk].caught == 0


def test_the_faults_of_a_candidate_are_stored_once(erin: User, case: Case, program: TestProgram) -> None:
    other = own_tests.save_test(erin, case, "assert reverse([]) == []\n", None)
    ask_strength(erin, program, [])
    ask_strength(erin, read(other), [])

    assert Mutant.objects.count() == 2
    assert Trial.objects.count() == 6
    assert [one.source.text.splitlines()[2].strip() for one in Mutant.objects.all()] == [
        "return items",
        "return None",
    ]


def test_where_nothing_can_be_changed_it_says_so(erin: User) -> None:
    case = factories.cases(factories.opened(k=3))[0]
    case.pair.snippet = Text.objects.keep("def f():\n    print 1\n")
    case.pair.save()
    with pytest.raises(NothingToChange, match="does not parse"):
        ask_strength(erin, read(factories.program_for(case)), [])
    assert not Trial.objects.exists()


def test_nobody_fills_the_queue(erin: User, case: Case, program: TestProgram) -> None:
    for number in range(own_tests.MOST_WAITING):
        ask_strength(erin, read(own_tests.save_test(erin, case, f"assert {number} == 1", None)), [])
    with pytest.raises(TooManyWaiting):
        ask_strength(erin, program, [])

    assert ask_strength(factories.person("eve", Role.EXPERT), program, []) == 3


def test_calls_and_single_runs_come_first(erin: User, case: Case, program: TestProgram) -> None:
    ask_strength(erin, program, ["a"])
    mine = own_tests.run_own_test(erin, case, "assert 1 == 1", None)
    work(times=1)

    mine.refresh_from_db()
    assert mine.state == mine.State.DONE
    assert not Trial.objects.filter(state=Trial.State.DONE).exists()


@pytest.mark.parametrize(
    ("source", "caught"),
    [
        ("assert reverse([1, 2, 3]) == [3, 2, 1]\n", 2),
        ("assert len(reverse([1, 2, 3])) == 3\n", 1),
        ("reverse([])\nassert True\n", 0),
    ],
)
def test_in_a_real_sandbox_a_stronger_test_catches_more(
    erin: User, case: Case, bubblewrap: Sandbox, source: str, caught: int
) -> None:
    program = read(own_tests.save_test(erin, case, source, None))
    ask_strength(erin, program, [])
    provider = SandboxProvider(open=lambda: bubblewrap)
    while fulfil_one(provider, Limits(seconds=5)):
        pass

    found = load_test_strengths([program])[program.pk]
    assert found.whole is not None and found.whole.execution is not None
    assert found.whole.execution.outcome in ("passed", "untested")
    assert (found.caught, found.tried) == (caught, 2)
