"""Running a test again, and running one's own."""

from __future__ import annotations

import ast

import pytest
from django.contrib.auth.models import User

from annotation.accounts.roles import Role
from annotation.builds.pipeline.execution import SandboxProvider, fulfil_one
from annotation.models import Case, Draft, Execution, ExecutionRequest, TestProgram
from annotation.review import drafts
from annotation.review.own_runs import own_tests
from sandbox.candidate.names import case_names
from sandbox.program import Limits
from sandbox.reports.report import Outcome
from tests import factories
from tests.fakes import FakeSandbox

pytestmark = pytest.mark.django_db
MINE = "assert reverse([]) == []\n"


@pytest.fixture
def erin() -> User:
    return factories.erin()


@pytest.fixture
def case() -> Case:
    """A case settled with a test program."""
    return factories.examined(factories.cases(factories.opened())[0], 1)


def agents_program(case: Case) -> TestProgram:
    assert case.program is not None
    return case.program


def test_an_edited_copy_belongs_to_its_author_and_names_its_parent(erin: User, case: Case) -> None:
    made = own_tests.save_test(erin, case, "def near(a):\n    return a\n\nassert near(1)\r\n", case.program)

    assert (made.author, made.parent, made.annotator) == (erin, case.program, None)
    assert made.reading == agents_program(case).reading
    assert made.helpers == ["near"]
    assert made.source.text.endswith("assert near(1)\n")


def test_an_unchanged_copy_is_the_program_itself(erin: User, case: Case) -> None:
    program = agents_program(case)

    assert own_tests.save_test(erin, case, program.source.text, program) == program


def test_a_copy_that_redefines_the_candidate_is_marked(erin: User, case: Case) -> None:
    made = own_tests.save_test(erin, case, "def reverse(items):\n    return items\n", None)

    assert made.redefines


@pytest.mark.parametrize(("source", "complaint"), [(" \n", "empty"), ("x" * 70_000, "at most 65,536")])
def test_what_can_be_no_test_is_refused(erin: User, case: Case, source: str, complaint: str) -> None:
    with pytest.raises(own_tests.BadTest, match=complaint):
        own_tests.run_own_test(erin, case, source, None)
    assert not ExecutionRequest.objects.exists()


def test_a_worker_fulfils_the_request_and_a_run_again_is_a_new_execution(erin: User, case: Case) -> None:
    before = case.execution
    request = own_tests.request_execution(erin, agents_program(case), case.dependencies)
    assert fulfil_one(SandboxProvider(open=lambda: FakeSandbox(factories.a_report(Outcome.FAILED))), Limits())

    request.refresh_from_db()
    assert request.state == ExecutionRequest.State.DONE
    assert request.execution is not None
    assert request.execution != before
    assert Execution.objects.count() == 2


def test_asking_twice_while_one_waits_asks_once(erin: User, case: Case) -> None:
    first = own_tests.request_execution(erin, agents_program(case), [])

    assert own_tests.request_execution(erin, agents_program(case), []) == first
    assert own_tests.request_execution(erin, agents_program(case), ["numpy"]) != first


def test_nobody_fills_the_queue(erin: User, case: Case) -> None:
    for number in range(own_tests.MOST_WAITING):
        own_tests.run_own_test(erin, case, f"assert {number} == {number}", None)

    with pytest.raises(own_tests.TooManyWaiting):
        own_tests.run_own_test(erin, case, MINE, None)
    assert not TestProgram.objects.filter(source__digest__startswith="x").exists()
    assert TestProgram.objects.filter(author=erin).count() == own_tests.MOST_WAITING
    eve = factories.person("eve", Role.EXPERT)
    assert own_tests.run_own_test(eve, case, MINE, None).user == eve


def test_the_draft_lasts_until_the_run_is_asked_for(erin: User, case: Case) -> None:
    drafts.save_draft(erin, case.pair_id, Draft.Field.TEST, MINE)
    own_tests.run_own_test(erin, case, MINE, case.program)

    assert drafts.load_drafts(erin, case.pair_id) == {}


def test_runs_of_a_pair_are_listed_newest_first_for_everybody(erin: User, case: Case) -> None:
    eve = factories.person("eve", Role.EXPERT)
    first = own_tests.run_own_test(erin, case, MINE, None)
    second = own_tests.run_own_test(eve, case, "assert 1", None)

    assert list(own_tests.requests_for(case.pair_id)) == [second, first]


def test_what_the_editor_starts_with_names_no_test_case(case: Case) -> None:
    typed = own_tests.beginning_of_a_test(case.pair) + "assert reverse([1]) == [1]"
    assert len(typed.splitlines()) not in case_names(ast.parse(typed), typed)


def test_a_case_without_a_test_starts_with_the_candidates_names(case: Case) -> None:
    assert "reverse" in own_tests.beginning_of_a_test(case.pair)
