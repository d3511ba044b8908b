"""One query's tests beside all of its candidates: what is known, what is asked for, what a row says."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from annotation import review
from annotation.accounts.roles import Role
from annotation.builds.pipeline.execution import SandboxProvider, fulfil_one
from annotation.models import Build, Case, Execution, TestProgram, Trial
from annotation.review.own_runs import cross_tests, own_tests
from annotation.review.own_runs.cross_tests import (
    Grid,
    Mark,
    ask_grid,
    of_query,
)
from annotation.review.own_runs.own_tests import TooManyWaiting
from sandbox.program import Limits, Program
from sandbox.protocol import Sandbox
from sandbox.reports.report import Outcome, Report
from tests import factories, studies
from tests.fakes import FakeSandbox, Ran
from tests.sandbox.conftest import bubblewrap, home

__all__ = ["bubblewrap", "home"]  # fixtures
pytestmark = pytest.mark.django_db
SNIPPETS = (
    "def reverse(items):\n    return items[::-1]\n",
    "def turned(rows):\n    return list(reversed(rows))\n",
    "def same(rows):\n    return rows\n",
    "def joined(a, b):\n    return a + b\n",
)
RIGHT = "assert reverse([1, 2]) == [2, 1]\n"
WRONG = "assert reverse([1, 2]) == [1, 3]\n"
EMPTY = "assert len(reverse([1, 2])) == 2\n"


@pytest.fixture
def erin() -> User:
    return factories.erin()


@pytest.fixture
def build() -> Build:
    """A query with four candidates: two matches, of which the first has a test, and two others."""
    factories.snippets(SNIPPETS)
    made = factories.opened(k=4)
    cases = factories.cases(made)[:4]
    factories.examined(cases[0], 1, source=RIGHT)
    for case, label in zip(cases[1:], (1, 0, 0), strict=True):
        factories.settled(case, label)
    return made


def first_cases(build: Build) -> list[Case]:
    return [Case.objects.get(pk=case.pk) for case in factories.cases(build)[:4]]


def table(build: Build) -> Grid:
    return of_query(build, first_cases(build)[0].query)


def outcomes(grid: Grid) -> list[list[str]]:
    return [[cell.outcome.value if cell.outcome else "?" for cell in row.cells] for row in grid.rows]


def work(*reports: Ran, box: Sandbox | None = None) -> FakeSandbox:
    fake = FakeSandbox(*reports)
    provider = SandboxProvider(open=lambda: box or fake)
    while fulfil_one(provider, Limits(seconds=5)):
        pass
    return fake


def test_before_anything_is_asked_the_recorded_run_is_known(build: Build) -> None:
    grid = table(build)

    assert outcomes(grid) == [["passed", "?", "?", "?"]]
    assert [cell.own for cell in grid.rows[0].cells] == [True, False, False, False]
    assert [one.accepted for one in grid.candidates] == [True, True, False, False]
    assert (grid.cells, len(grid.missing), grid.next_runs, grid.open) == (4, 3, 3, 0)
    assert grid.rows[0].mark is None


def test_what_is_missing_runs_under_the_name_that_the_test_expects(erin: User, build: Build) -> None:
    assert ask_grid(erin, table(build)) == 3
    assert table(build).open == 3
    sandbox = work()

    assert {(run.name, run.source) for run in sandbox.runs} == {("reverse", RIGHT)}
    assert sorted(run.candidate for run in sandbox.runs) == sorted(text.strip() for text in SNIPPETS[1:])
    assert set(Execution.objects.filter(trials__isnull=False).values_list("applied_as", flat=True)) == {
        "reverse"
    }
    assert outcomes(table(build)) == [["passed"] * 4]


def test_asking_again_runs_nothing_again(erin: User, build: Build) -> None:
    ask_grid(erin, table(build))
    assert ask_grid(factories.person("eve", Role.EXPERT), table(build)) == 0
    work()

    assert ask_grid(erin, table(build)) == 0
    assert Trial.objects.count() == 3


def test_a_stored_run_of_the_same_inputs_is_taken(erin: User, build: Build) -> None:
    ask_grid(erin, table(build))
    work()
    Trial.objects.all().delete()
    ask_grid(erin, table(build))

    assert work().runs == []
    assert outcomes(table(build)) == [["passed"] * 4]


def test_a_request_is_bounded(erin: User, build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_tests, "MOST_RUNS", 2)
    grid = table(build)
    assert grid.next_runs == 2
    assert ask_grid(erin, grid) == 2
    with pytest.raises(TooManyWaiting, match="2 runs that you started are still waiting"):
        ask_grid(erin, table(build))
    work()
    assert ask_grid(erin, table(build)) == 1


def test_the_table_is_bounded_and_says_what_is_left_out(
    erin: User, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cross_tests, "MOST_TESTS", 1)
    monkeypatch.setattr(cross_tests, "MOST_CANDIDATES", 3)
    own_tests.save_test(erin, first_cases(build)[1], EMPTY, None)
    grid = table(build)

    assert (len(grid.rows), len(grid.candidates), grid.more_tests, grid.more_candidates) == (1, 3, 1, 1)


def test_peoples_tests_are_rows_too_and_those_of_studies_are_not(erin: User, build: Build) -> None:
    second = first_cases(build)[1]
    own_tests.save_test(erin, second, "assert turned([]) == []\n", None)
    own_tests.save_test(erin, second, "assert turned([]) == []\n", None)

    assert [row.test.program.author for row in table(build).rows] == [None, erin]
    assert table(build).rows[1].cells[1].own
    found = studies.assignment(studies.rater("rae", studies.study(pairs=[second.pair])))
    TestProgram.objects.filter(author=erin).update(assignment=found)
    assert [row.test.program.author for row in table(build).rows] == [None]


def test_the_agents_tests_come_first_and_then_the_newest(erin: User) -> None:
    factories.snippets(SNIPPETS)
    made = factories.opened(k=4)
    for source in ("assert reverse([]) == []\n", "assert reverse([1]) == [1]\n"):
        own_tests.save_test(erin, first_cases(made)[0], source, None)
    factories.examined(first_cases(made)[1], 1, source="assert turned([1]) == [1]\n")

    rows = [row.test.program for row in table(made).rows]
    assert [row.author for row in rows] == [None, erin, erin]
    assert rows[1].pk > rows[2].pk


def test_what_its_writer_has_run_is_known(erin: User, build: Build) -> None:
    second = first_cases(build)[1]
    own_tests.save_test(erin, second, "assert turned([]) == []\n", None)
    asked = own_tests.request_execution(erin, TestProgram.objects.get(author=erin), ())
    assert outcomes(table(build))[1] == ["?"] * 4
    work()

    assert outcomes(table(build))[1] == ["?", "passed", "?", "?"]
    assert table(build).rows[1].cells[1].run == asked


def test_an_experts_label_goes_before_the_agents(erin: User, build: Build) -> None:
    third = first_cases(build)[2]
    review.store_label(erin, third, 1, "it does", "0" * 64, 0)

    assert [one.accepted for one in table(build).candidates] == [True, True, True, False]


@pytest.mark.parametrize(
    ("ended", "mark"),
    [
        ("failed failed passed not_applicable", Mark.WRONG),
        ("failed timed_out failed errored", Mark.WRONG),
        ("failed passed failed failed", None),
        ("passed passed passed passed", Mark.EMPTY),
        ("passed untested untested not_applicable", Mark.EMPTY),
        ("passed passed not_applicable not_applicable", None),
        ("not_applicable not_applicable passed failed", None),
        ("passed failed passed passed", None),
        ("dependency_refused dependency_refused dependency_refused dependency_refused", None),
    ],
)
def test_what_a_row_says_of_its_test(erin: User, build: Build, ended: str, mark: Mark | None) -> None:
    own_tests.save_test(erin, first_cases(build)[3], "assert joined([], []) == []\n", None)
    texts = {text.strip(): Outcome(one) for text, one in zip(SNIPPETS, ended.split(), strict=True)}

    def ran(program: Program) -> Report:
        return factories.a_report(texts[program.candidate])

    ask_grid(erin, table(build))
    work(ran)
    assert table(build).rows[1].mark is mark


def test_while_a_cell_is_not_known_nothing_is_said(erin: User, build: Build) -> None:
    own_tests.save_test(erin, first_cases(build)[0], WRONG, None)
    assert [row.mark for row in table(build).rows] == [None, None]


def test_in_a_real_sandbox_wrong_and_empty_tests_are_found(
    erin: User, build: Build, bubblewrap: Sandbox
) -> None:
    for source in (EMPTY, WRONG):
        own_tests.save_test(erin, first_cases(build)[0], source, None)
    ask_grid(erin, table(build))
    work(box=bubblewrap)
    grid = table(build)

    assert outcomes(grid) == [
        ["passed", "passed", "failed", "not_applicable"],
        ["failed", "failed", "failed", "not_applicable"],
        ["passed", "passed", "passed", "not_applicable"],
    ]
    assert [row.mark for row in grid.rows] == [None, Mark.WRONG, Mark.EMPTY]
