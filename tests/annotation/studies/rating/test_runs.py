"""A rater's own tests and calls: theirs alone, limited as everybody's, kept with the assignment."""

from __future__ import annotations

import pytest

from annotation.models import Assignment, CallRequest, Case, Condition, ExecutionRequest, Study
from annotation.review.own_runs.own_tests import MOST_WAITING, BadTest, TooManyWaiting
from annotation.studies.rating import runs
from annotation.studies.rating.runs import (
    NotNow,
)
from sandbox.expression_call import BadExpression
from tests import factories, studies

pytestmark = pytest.mark.django_db
Kind = Condition.Kind
SOURCE = "assert reverse([1]) == [1]\n"


def given(kind: str = Kind.OWN_TESTS) -> Assignment:
    return studies.assignment(studies.rater("rita", studies.study(conditions=[kind])))


def test_the_same_test_again_is_the_same_program_and_waits_once() -> None:
    of = given()
    pair = of.study_pair.pair
    first, again = runs.run_rater_test(of, pair, SOURCE), runs.run_rater_test(of, pair, SOURCE)
    assert first == again
    changed = runs.run_rater_test(of, pair, SOURCE + "assert reverse([]) == []\n")
    assert changed.program.parent == first.program
    assert runs.ids_of(of) == ((), (first.pk, changed.pk))


def test_the_same_text_of_another_assignment_is_another_program() -> None:
    one = given()
    two = studies.assignment(studies.rater("rolf", one.condition.study), one.study_pair)
    pair = one.study_pair.pair
    assert runs.run_rater_test(one, pair, SOURCE).program != runs.run_rater_test(two, pair, SOURCE).program


def test_calls_of_plain_review_count_against_the_same_limit() -> None:
    of = given()
    for number in range(MOST_WAITING):
        CallRequest.objects.create(user=of.rater, pair=of.study_pair.pair, expression=str(number))
    with pytest.raises(TooManyWaiting):
        runs.request_expression_call(of, of.study_pair.pair, "1 + 1")
    assert not runs.rater_calls_of_assignment(of).exists()


def test_what_can_not_be_run_is_refused() -> None:
    of = given()
    with pytest.raises(BadTest):
        runs.run_rater_test(of, of.study_pair.pair, " ")
    with pytest.raises(BadExpression):
        runs.request_expression_call(of, of.study_pair.pair, "x = 1")


@pytest.mark.parametrize("state", [Assignment.State.LAPSED, Assignment.State.SKIPPED])
def test_nothing_runs_for_a_pair_that_is_not_held(state: str) -> None:
    of = given()
    of.state = state
    with pytest.raises(NotNow):
        runs.run_rater_test(of, of.study_pair.pair, SOURCE)


def test_nothing_runs_in_a_paused_study_or_where_the_code_is_read() -> None:
    assert "by reading" in runs.describe_run_refusal(given(Kind.READING))
    Study.objects.update(state="paused")
    of = Assignment.objects.select_related("enrolment__study", "condition").get()
    of.condition.kind = Kind.OWN_TESTS
    assert "not running" in runs.describe_run_refusal(of)
    assert not ExecutionRequest.objects.exists()


@pytest.mark.parametrize(("kind", "packages"), [(Kind.OWN_TESTS, []), (Kind.AGENTS_TESTS, ["numpy"])])
def test_packages_that_agents_found_are_there_where_agents_are(kind: str, packages: list[str]) -> None:
    case = factories.examined(factories.cases(factories.opened())[0], 1)
    Case.objects.update(dependencies=["numpy"])
    study = studies.study(conditions=[kind], pairs=[case.pair])
    study.pairs.update(case=case)
    of = studies.assignment(studies.rater("rita", study))
    assert runs.run_rater_test(of, case.pair, SOURCE).dependencies == packages
