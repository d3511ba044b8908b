"""A rater's own tests and calls: run for the pair, kept with its label, seen by nobody else."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.builds.pipeline.execution import SandboxProvider, fulfil_one
from annotation.models import (
    CallRequest,
    Condition,
    ExecutionRequest,
    Rating,
    RatingDraft,
)
from annotation.studies.rating import runs
from sandbox.program import Limits
from sandbox.reports.report import Outcome
from tests import factories, studies
from tests.fakes import FakeSandbox
from tests.rating_pages import (
    given,
    of_two,
    page,
    path,
    send,
)

pytestmark = pytest.mark.django_db
Kind = Condition.Kind


def test_a_test_of_one_side_runs_beside_that_snippet(client: Client) -> None:
    of = of_two(client, False, True)
    client.post(path(of, "runs/"), {"source": "assert other() is None", "side": "left"})
    assert ExecutionRequest.objects.get().program.pair == of.study_pair.other


def test_own_tests_and_calls_belong_to_the_assignment_and_its_label(client: Client) -> None:
    of = given(client, Kind.OWN_TESTS)
    run = client.post(path(of, "runs/"), {"source": "assert 1 == 1"})
    call = client.post(path(of, "calls/"), {"expression": "1 + 1"})
    ran, called = ExecutionRequest.objects.get(), CallRequest.objects.get()
    assert run.headers["Location"] == path(of, f"runs/{ran.pk}/")
    assert call.headers["Location"] == path(of, f"calls/{called.pk}/")
    assert (ran.assignment, ran.program.assignment, called.assignment) == (of, of, of)
    assert client.get(path(of, f"runs/{ran.pk}/")).status_code == 200
    assert client.get(path(of, f"calls/{called.pk}/")).status_code == 200
    send(client, of, "1")
    made = Rating.objects.get()
    assert (made.calls, made.runs) == ([called.pk], [ran.pk])


def test_ones_own_run_is_stepped_through(client: Client) -> None:
    of = given(client, Kind.OWN_TESTS)
    client.post(path(of, "runs/"), {"source": "assert reverse([1]) == [1]"})
    fulfil_one(SandboxProvider(open=lambda: FakeSandbox(factories.a_report(Outcome.FAILED))), Limits())
    ran = ExecutionRequest.objects.get()
    html = client.get(path(of, f"runs/{ran.pk}/"), headers={"HX-Request": "true"}).content.decode()
    assert "data-steps" in html and 'data-step-to="next" data-key="."' in html
    assert 'href="#r-' in html, "lines of the test that ran"


def test_a_run_that_has_ended_is_listed_in_the_head_of_the_editor(client: Client) -> None:
    of = given(client, Kind.OWN_TESTS)
    assert 'id="run-lines"' in page(client, of), "where the list comes to stand"
    client.post(path(of, "runs/"), {"source": "assert reverse([1]) == [1]"})
    ran, htmx = ExecutionRequest.objects.get(), {"HX-Request": "true"}
    assert "run-lines" not in client.get(path(of, f"runs/{ran.pk}/"), headers=htmx).content.decode()
    fulfil_one(SandboxProvider(open=lambda: FakeSandbox(factories.a_report(Outcome.FAILED))), Limits())
    html = client.get(path(of, f"runs/{ran.pk}/"), headers=htmx).content.decode()
    assert 'id="run-lines" hx-swap-oob="true"' in html and 'title="run 1"' in html
    assert "run-lines" not in client.get(path(of, f"runs/{ran.pk}/")).content.decode()


def test_reading_runs_nothing(client: Client) -> None:
    of = given(client, Kind.READING)
    html = page(client, of)
    assert "call-expression" not in html and "test-source" not in html
    client.post(path(of, "runs/"), {"source": "assert 1"})
    client.post(path(of, "calls/"), {"expression": "1"})
    assert not ExecutionRequest.objects.exists() and not CallRequest.objects.exists()
    assert {draft.field for draft in RatingDraft.objects.all()} == {"test", "call"}, "nothing typed is lost"


def test_too_many_runs_are_refused_and_the_test_is_kept(client: Client) -> None:
    of = given(client, Kind.OWN_TESTS)
    for number in range(6):
        response = client.post(
            path(of, "runs/"), {"source": f"assert {number} == 0"}, headers={"HX-Request": "true"}
        )
    assert response.status_code == 422
    assert "wait for the sandbox" in response.content.decode()
    assert ExecutionRequest.objects.count() == 5
    assert RatingDraft.objects.get(field="test").text == "assert 5 == 0"


def test_somebody_elses_pair_run_and_call_are_nowhere(client: Client) -> None:
    of = given(client, Kind.OWN_TESTS)
    client.post(path(of, "runs/"), {"source": "assert 1 == 1"})
    ran = ExecutionRequest.objects.get()
    other = studies.rater("rolf", of.condition.study)
    client.force_login(other.user)
    assert client.get(path(of)).status_code == 403, "as everything that is not there for who is kept blind"
    studies.assignment(other, of.study_pair)
    assert client.get(path(of, f"runs/{ran.pk}/")).status_code == 403


def test_an_earlier_test_is_put_back_into_the_editor(client: Client) -> None:
    of = given(client, Kind.OWN_TESTS)
    for source in ("assert reverse([1]) == [1]", "assert reverse([2]) == [2]"):
        client.post(path(of, "runs/"), {"source": source})
    fulfil_one(SandboxProvider(open=lambda: FakeSandbox(factories.a_report(Outcome.FAILED))), Limits())
    client.post(path(of, "draft/"), {"field": "test", "text": "# half a thought"})
    first = ExecutionRequest.objects.earliest("pk")
    link = f'href="{path(of)}?start={first.program_id}"'
    assert link in client.get(path(of, f"runs/{first.pk}/")).content.decode()
    assert "reverse([1])" in editor(client, f"{path(of)}?start={first.program_id}")
    assert "# half a thought" in editor(client, path(of)), "the draft stays until something else is typed"


def test_no_other_persons_test_is_put_into_the_editor(client: Client) -> None:
    of = given(client, Kind.OWN_TESTS)
    other = studies.assignment(studies.rater("rolf", of.condition.study), of.study_pair)
    theirs = runs.run_rater_test(other, of.study_pair.pair, "assert 'theirs'").program
    for start in (str(theirs.pk), "agents", "999999", "x"):
        assert "theirs" not in editor(client, f"{path(of)}?start={start}")


def editor(client: Client, where: str) -> str:
    html = client.get(where).content.decode()
    return html.split('id="test-source"')[1].split("</textarea>")[0]


def test_a_call_of_the_second_snippet_leaves_what_is_typed_beside_the_first(client: Client) -> None:
    of = of_two(client, False, True)
    client.post(path(of, "draft/"), {"field": "call", "text": "other("})
    for expression in ("1 +", "1 + 1"):
        client.post(path(of, "calls/"), {"expression": expression, "side": "right"})
        assert 'value="other("' in page(client, of)
    assert CallRequest.objects.get().expression == "1 + 1"
    client.post(path(of, "calls/"), {"expression": "1 +", "side": "left"})
    assert 'value="1 +"' in page(client, of)
    client.post(path(of, "calls/"), {"expression": "2 + 2", "side": "left"})
    assert not RatingDraft.objects.exists()
