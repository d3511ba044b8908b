"""Under own tests a label needs a finished run of the rater's own program, or says why none is possible."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.builds.pipeline.execution import SandboxProvider, fulfil_one
from annotation.models import Assignment, Condition, ExecutionRequest, Rating
from annotation.studies.plan.form_checks import BadRating
from annotation.studies.rating import drafts
from annotation.studies.rating.ratings import submit_rating
from annotation.studies.rating.required_run import NO_RUN, NOT_STARTED, WAITS
from annotation.studies.rating.runs import ids_of, run_rater_test
from annotation.studies.rating.undo import undo_decision
from sandbox.program import Limits
from sandbox.reports.report import Outcome, Raised, Report
from tests import factories, studies
from tests.annotation.studies.rating.test_ratings import given, said
from tests.fakes import FakeSandbox
from tests.rating_pages import given as handed
from tests.rating_pages import page, path, send

pytestmark = pytest.mark.django_db
Kind = Condition.Kind


def held(kind: str = Kind.OWN_TESTS, raters: int = 1, needs_run: bool = True) -> Assignment:
    study = studies.study(conditions=(kind,), raters=raters, needs_run=needs_run)
    return given(studies.rater("rita", study))


def run(of: Assignment, report: Report | None = None) -> None:
    """Rita's test of the pair, run to this end."""
    run_rater_test(of, of.study_pair.pair, "assert 1 == 1")
    fulfil_one(SandboxProvider(open=lambda: FakeSandbox(report or factories.a_report())), Limits())


def label(of: Assignment, value: int | None = 1, no_test: str = "", revision: int = 0) -> Rating:
    now = Assignment.objects.get(pk=of.pk)
    calls, runs = ids_of(now)
    return submit_rating(now, now.token, said(value, calls=calls, runs=runs, no_test=no_test), revision)


def test_a_label_without_a_run_is_refused_and_kept_as_a_draft() -> None:
    of = held()
    with pytest.raises(BadRating, match=NO_RUN):
        label(of)
    assert not Rating.objects.exists() and drafts.load_draft_texts(of) == {"choice": "1"}


@pytest.mark.parametrize("outcome", [Outcome.PASSED, Outcome.FAILED])
def test_a_run_of_ones_own_test_is_enough_whatever_it_showed(outcome: Outcome) -> None:
    of = held()
    run(of, factories.a_report(outcome))
    made = label(of)
    assert made.runs == [ExecutionRequest.objects.get().pk] and made.no_test == ""


def test_a_run_that_waits_or_never_reached_a_check_is_none() -> None:
    of = held()
    run_rater_test(of, of.study_pair.pair, "assert 1 == 1")
    with pytest.raises(BadRating, match=WAITS):
        label(of)
    broken = Report(
        Outcome.ERRORED, raised=Raised("SyntaxError", "invalid syntax"), seconds=0.1, backend="fake"
    )
    fulfil_one(SandboxProvider(open=lambda: FakeSandbox(broken)), Limits())
    with pytest.raises(BadRating, match=NOT_STARTED):
        label(of)


def test_somebody_elses_run_of_the_pair_is_none() -> None:
    of = held(raters=2)
    other = studies.assignment(studies.rater("sam", of.enrolment.study), of.study_pair)
    run(other)
    with pytest.raises(BadRating, match=NO_RUN):
        label(of)


def test_a_reason_why_no_test_is_possible_stands_with_the_label_and_comes_back_with_an_undo() -> None:
    of = held()
    made = label(of, 0, " it needs\na printer ")
    assert made.no_test == "it needs\na printer" and drafts.load_draft_texts(of) == {}
    with pytest.raises(BadRating, match=NO_RUN):
        label(of, 1, "", revision=1)
    drafts.clear_sent_drafts(of, *drafts.SUBMITTED)
    undo_decision(of.enrolment)
    assert drafts.load_draft_texts(of) == {"choice": "0", "no_test": "it needs\na printer"}


def test_who_is_unsure_needs_no_run() -> None:
    assert label(held(), None).value is None


@pytest.mark.parametrize(("kind", "asked"), [(Kind.OWN_TESTS, False), (Kind.REVEAL, True)])
def test_nothing_is_asked_where_the_plan_does_not_say_so_or_in_other_conditions(
    kind: str, asked: bool
) -> None:
    assert label(held(kind, needs_run=asked), 1, "kept by nobody").no_test == ""


def test_the_page_asks_and_says_what_is_missing(client: Client) -> None:
    of = handed(client, Kind.OWN_TESTS, needs_run=True)
    assert 'name="no_test"' in page(client, of)
    refused = send(client, of, "1", notes="looks right")
    assert refused.status_code == 422 and NO_RUN in refused.content.decode()
    assert "looks right" in refused.content.decode()
    assert send(client, of, "1", no_test="needs a <b>printer</b>").status_code == 302
    assert "needs a &lt;b&gt;printer&lt;/b&gt;" in page(client, of)
    client.post(path(of, "draft/"), {"field": "no_test", "text": "needs two"})
    assert "needs two" in page(client, of)


def test_other_pages_have_no_such_field(client: Client) -> None:
    assert 'name="no_test"' not in page(client, handed(client, Kind.OWN_TESTS))
