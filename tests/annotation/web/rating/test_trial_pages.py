"""How strong a rater's test is: of their own wherever tests may be run, of the agents' where it is shown."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from annotation.builds.pipeline.execution import SandboxProvider, fulfil_one
from annotation.models import Assignment, Case, Condition, ExecutionRequest, Mutant, Seen, TestProgram, Trial
from annotation.studies.rating.shown_pair import case_shown
from sandbox.program import Limits
from sandbox.reports.report import Outcome
from tests import factories, studies
from tests.fakes import FakeSandbox, Ran
from tests.rating_pages import DOCUMENTED, PROGRAM, given, of_code, of_two, page, path, send

pytestmark = pytest.mark.django_db
Kind = Condition.Kind
HTMX = {"HX-Request": "true"}
BLIND_WITH_TESTS = [Kind.OWN_TESTS, Kind.REVEAL, Kind.SECOND_LOOK]


@pytest.fixture
def case() -> Case:
    """A case that was denied, with a test that tells so."""
    first = factories.cases(factories.opened("zanzibar"))[0]
    return factories.examined(first, 0, factories.a_report(Outcome.FAILED), PROGRAM)


def work(*reports: Ran) -> None:
    provider = SandboxProvider(open=lambda: FakeSandbox(*reports))
    while fulfil_one(provider, Limits()):
        pass


def written(client: Client, of: Assignment, source: str = "assert reverse([]) == []", side: str = "") -> str:
    """Run a test; the address of its strength."""
    client.post(path(of, "runs/"), {"source": source, "side": side})
    work()
    run = ExecutionRequest.objects.latest("pk")
    html = client.get(path(of, f"runs/{run.pk}/"), headers=HTMX).content.decode()
    where = path(of, f"programs/{run.program_id}/strength/")
    assert f'hx-get="{where}"' in html and 'data-key="; k"' in html
    return where


def fragment(client: Client, where: str) -> str:
    return client.get(where, headers=HTMX).content.decode()


@pytest.mark.parametrize("kind", BLIND_WITH_TESTS)
def test_ones_own_test_is_tried_when_that_is_asked_for(client: Client, case: Case, kind: str) -> None:
    Case.objects.update(dependencies=["numpy"])
    of = given(client, kind, case)
    where = written(client, of)
    assert "Check test strength" in fragment(client, where)
    assert not Mutant.objects.exists(), "looking asks for nothing"
    assert client.post(where, headers=HTMX).status_code == 200
    assert {(trial.assignment_id, tuple(trial.dependencies)) for trial in Trial.objects.all()} == {
        (of.pk, ())
    }
    work(factories.a_report(Outcome.FAILED))
    assert "Strength: caught" in fragment(client, where)
    assert not Seen.objects.exists()


def test_without_javascript_it_is_a_page_with_the_way_back(client: Client) -> None:
    of = given(client, Kind.OWN_TESTS)
    where = written(client, of)
    assert client.post(where)["Location"] == where
    html = client.get(where).content.decode()
    assert f'href="{path(of)}">Back to the pair' in html
    assert "· Rate" in html and 'http-equiv="refresh"' in html


@pytest.mark.parametrize("docstring", ["shown", "folded", "hidden"])
def test_a_fault_shows_no_more_of_the_code_than_the_study_does(client: Client, docstring: str) -> None:
    of = of_code(client, DOCUMENTED, docstring=docstring)
    where = written(client, of)
    client.post(where, headers=HTMX)
    work()
    whole, *faults = [path(of, f"trials/{one.pk}/") for one in Trial.objects.order_by("pk")]
    assert faults
    for address in (where, whole, *faults):
        html = client.get(address).content.decode()
        assert 'id="c-3"' in html, "lines keep their numbers"
        assert ("Tells the secret" in html) is (docstring == "shown")


def test_of_two_snippets_the_lines_of_the_right_one_are_meant(client: Client) -> None:
    of = of_two(client, swapped=True)
    where = written(client, of, side="right")
    client.post(where, headers=HTMX)
    work()
    assert 'href="#d-3"' in fragment(client, where)


def test_reading_finds_no_strength(client: Client, case: Case) -> None:
    of = given(client, Kind.READING, case)
    assert client.get(path(of, f"programs/{case.program_id}/strength/")).status_code == 403


@pytest.mark.parametrize("kind", BLIND_WITH_TESTS)
def test_the_agents_test_is_nowhere_on_a_blind_page(client: Client, case: Case, kind: str) -> None:
    of = given(client, kind, case)
    assert client.post(path(of, f"programs/{case.program_id}/strength/")).status_code == 403
    assert not Trial.objects.exists() and not Seen.objects.exists()


def test_agents_tests_are_tried_without_what_they_tell(client: Client, case: Case) -> None:
    of = given(client, Kind.AGENTS_TESTS, case)
    where = path(of, f"programs/{case.program_id}/strength/")
    assert f'hx-get="{where}"' in page(client, of)
    Seen.objects.all().delete()
    client.post(where)
    work(factories.a_report(Outcome.FAILED))
    trials = [path(of, f"trials/{one.pk}/") for one in Trial.objects.all()]
    assert "Strength: caught" in fragment(client, where)
    for address in (where, *trials):
        html = client.get(address).content.decode()
        assert "name_1" in html
        assert not re.search("should_fail|candidate is wrong|reverses the list", html)
    assert Seen.objects.filter(pair=case.pair).count() == 1


def test_after_reveal_the_agents_test_is_tried_as_it_is(client: Client, case: Case) -> None:
    of = given(client, Kind.REVEAL, case)
    where = path(of, f"programs/{case.program_id}/strength/")
    assert client.get(where).status_code == 403
    send(client, of, "1")
    assert f'hx-get="{where}"' in page(client, of)
    client.post(where)
    of.refresh_from_db()
    shown = case_shown(of)
    assert shown is not None and Trial.objects.filter(program=shown.program).exists()
    assert "test_should_fail" in client.get(where).content.decode()


def test_a_study_that_pauses_runs_nothing(client: Client) -> None:
    of = given(client, Kind.OWN_TESTS)
    where = written(client, of)
    of.enrolment.study.state = "paused"
    of.enrolment.study.save()
    answer = client.post(where, headers=HTMX)
    assert "is not running now" in answer.content.decode()
    assert not Trial.objects.exists()


def test_another_raters_test_and_its_runs_are_not_there(client: Client) -> None:
    of = given(client, Kind.OWN_TESTS)
    where = written(client, of)
    client.post(where)
    trial = Trial.objects.latest("pk")
    rolf = studies.rater("rolf", of.condition.study)
    studies.assignment(rolf, of.study_pair)
    client.force_login(rolf.user)
    for address in (where, path(of, f"trials/{trial.pk}/")):
        assert client.get(address).status_code == 403


def test_plain_review_has_no_raters_tests(client: Client, erin: Client) -> None:
    written(client, given(client, Kind.OWN_TESTS))
    program = TestProgram.objects.get()
    for one in (client, erin):
        assert one.get(f"/review/programs/{program.pk}/strength/").status_code in (403, 404)
