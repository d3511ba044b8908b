"""A rater's pages: what is on them in each condition, and what never is."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.executing import SandboxProvider, fulfil_one
from annotation.models import (
    Assignment,
    CallRequest,
    Case,
    Condition,
    Enrolment,
    ExecutionRequest,
    Guideline,
    Rating,
    RatingDraft,
    Seen,
    Study,
    TestProgram,
)
from sandbox.program import Limits
from sandbox.report import Outcome
from tests import factories, studies
from tests.fakes import FakeSandbox
from tests.rating_pages import (
    DOCUMENTED,
    PROGRAM,
    change_what_agents_said,
    given,
    of_code,
    of_two,
    page,
    path,
    send,
    steady,
)

pytestmark = pytest.mark.django_db
Kind = Condition.Kind
State = Assignment.State
BLIND_KINDS = [Kind.READING, Kind.OWN_TESTS, Kind.REVEAL, Kind.SECOND_LOOK]


@pytest.fixture
def case() -> Case:
    """A case that was denied, with a test that tells so."""
    first = factories.cases(factories.opened("zanzibar"))[0]
    return factories.examined(first, 0, factories.a_report(Outcome.FAILED), PROGRAM)


@pytest.mark.parametrize("kind", BLIND_KINDS)
def test_a_blind_page_is_the_same_whatever_agents_did(client: Client, case: Case, kind: str) -> None:
    of = given(client, kind, case)
    before = client.get(path(of))
    change_what_agents_said(case)
    Case.objects.update(program=None, execution=None, stage="abandoned", label=None, reason="nobody")
    TestProgram.objects.update(reading="quite another")
    after = client.get(path(of))
    assert steady(before.content.decode()) == steady(after.content.decode())
    assert {**before.headers, "Content-Security-Policy": ""} == {
        **after.headers,
        "Content-Security-Policy": "",
    }
    assert not Seen.objects.exists()


@pytest.mark.parametrize("kind", BLIND_KINDS)
def test_a_blind_page_is_the_same_for_a_pair_that_no_agent_saw(client: Client, case: Case, kind: str) -> None:
    of = given(client, kind, case)
    before = page(client, of)
    of.condition.study.pairs.update(case=None)
    assert steady(page(client, of)) == steady(before)


def test_a_second_look_shows_nothing_new(client: Client, case: Case) -> None:
    of = given(client, Kind.SECOND_LOOK, case)
    assert send(client, of, "1").status_code == 302
    page(client, of)  # what was announced is announced once
    before = page(client, of)
    change_what_agents_said(case)
    assert steady(page(client, of)) == steady(before)
    assert "Your blind label is locked" in before
    assert (
        "test_should_fail" not in before and "agents" not in before.lower().split("<main")[1].split("tags")[0]
    )


def test_agents_tests_show_the_test_and_its_run_but_not_what_they_concluded(
    client: Client, case: Case
) -> None:
    of = given(client, Kind.AGENTS_TESTS, case)
    html = page(client, of)
    assert "The agents&#x27; test" in html or "The agents' test" in html
    assert "An assertion did not hold." in html
    for hidden in (
        "should_fail",
        "candidate is wrong",
        "the test decides",
        "small-model",
        "reverses the list",
    ):
        assert hidden not in html, hidden
    assert "Flagged" in html
    change_what_agents_said(case)
    assert steady(page(client, of)) == steady(html)
    assert Seen.objects.filter(pair=case.pair).count() == 1


def test_agents_tests_without_a_test_say_so(client: Client) -> None:
    of = given(client, Kind.AGENTS_TESTS)
    assert "The agents wrote no test for this pair." in page(client, of)


def test_reveal_shows_everything_once_the_blind_label_is_locked(client: Client, case: Case) -> None:
    of = given(client, Kind.REVEAL, case)
    assert "the test decides" not in page(client, of)
    assert send(client, of, "1").status_code == 302
    html = page(client, of)
    for shown in ("Your blind label is locked", "the test decides", "test_should_fail", "small-model"):
        assert shown in html, shown
    assert Seen.objects.filter(pair=case.pair).exists()


def test_a_revision_needs_a_reason_and_what_was_typed_stays(client: Client, case: Case) -> None:
    of = given(client, Kind.REVEAL, case)
    send(client, of, "1")
    refused = send(client, of, "0", notes="seen the trace")
    assert refused.status_code == 422
    assert "give the reason" in refused.content.decode()
    assert "seen the trace" in refused.content.decode()
    assert send(client, of, "0", reason="it keeps the order", notes="").status_code == 302
    phases = Rating.objects.values_list("phase", "value", "reason")
    assert list(phases) == [("blind", 1, ""), ("revised", 0, "it keeps the order")]


@pytest.mark.parametrize("docstring", Study.Docstring.values)
def test_the_docstring_is_shown_folded_or_nowhere(client: Client, docstring: str) -> None:
    html = page(client, of_code(client, DOCUMENTED, docstring=docstring))
    assert ("Tells the secret" in html) is (docstring != "hidden")
    assert ("rate-docstring" in html) is (docstring == "folded")
    assert ("docstring hidden" in html) is (docstring == "hidden")
    assert 'id="c-3"' in html, "lines keep their numbers"


def test_it_is_stored_with_the_rating(client: Client) -> None:
    of = of_code(client, DOCUMENTED, docstring="folded")
    send(client, of, "1")
    assert Rating.objects.get().docstring == "folded"


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ("binary", ["1", "0", "unsure"]),
        ("steps", ["2", "1", "0", "unsure"]),
        ("graded", ["3", "2", "1", "0", "unsure"]),
    ],
)
def test_each_scale_has_its_buttons(client: Client, scale: str, words: list[str]) -> None:
    of = given(client, Kind.READING, scale=scale)
    assert re.findall(r'name="label" value="(\w+)"', page(client, of)) == words
    assert send(client, of, words[0]).status_code == 302
    assert Rating.objects.get().value == int(words[0])


@pytest.mark.parametrize(("swapped", "value"), [(False, 1), (True, -1)])
def test_two_snippets_stand_side_by_side_as_shuffled(client: Client, swapped: bool, value: int) -> None:
    of = of_two(client, False, swapped)
    html = page(client, of)
    assert (html.index("reverse</span>") < html.index("other</span>")) is not swapped
    assert re.findall(r'name="label" value="(\w+)"', html) == ["left", "right"]
    send(client, of, "left")
    assert Rating.objects.get().value == value


def test_a_tie_is_there_where_the_study_allows_it(client: Client) -> None:
    assert 'value="tie"' in page(client, of_two(client, True, False))


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


def test_what_agents_found_out_reaches_no_run_of_own_tests(client: Client, case: Case) -> None:
    Case.objects.update(dependencies=["numpy"])
    of = given(client, Kind.OWN_TESTS, case)
    client.post(path(of, "runs/"), {"source": PROGRAM})
    asked = ExecutionRequest.objects.get()
    assert asked.dependencies == []
    assert asked.program != case.program
    assert "Start from the agents" not in page(client, of)


def test_the_agents_test_is_a_start_where_it_is_shown(client: Client, case: Case) -> None:
    of = given(client, Kind.AGENTS_TESTS, case)
    html = client.get(path(of) + "?start=agents").content.decode()
    assert "assert reverse([1, 2]) == [2, 1]\n" in html.split('id="test-source"')[1].split("</textarea>")[0]
    assert "should_fail" not in html


def test_ones_own_run_is_stepped_through(client: Client) -> None:
    of = given(client, Kind.OWN_TESTS)
    client.post(path(of, "runs/"), {"source": "assert reverse([1]) == [1]"})
    fulfil_one(SandboxProvider(open=lambda: FakeSandbox(factories.a_report(Outcome.FAILED))), Limits())
    ran = ExecutionRequest.objects.get()
    html = client.get(path(of, f"runs/{ran.pk}/"), headers={"HX-Request": "true"}).content.decode()
    assert "data-steps" in html and 'data-step-to="next" data-key="."' in html
    assert 'href="#r-' in html, "lines of the test that ran"


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


def test_a_lapsed_reservation_keeps_the_draft_and_says_what_happened(client: Client) -> None:
    of = given(client, Kind.READING)
    client.post(path(of, "draft/"), {"field": "notes", "text": "half a thought"})
    Assignment.objects.update(state=State.LAPSED)
    html = page(client, of)
    assert "Your reservation of this pair ran out" in html
    assert "half a thought" in html
    assert "data-heartbeat" not in html


def test_the_heartbeat_says_when_the_pair_is_gone(client: Client) -> None:
    of = given(client, Kind.READING)
    assert client.post(path(of, "heartbeat/"), {"token": of.token}).status_code == 204
    gone = client.post(path(of, "heartbeat/"), {"token": "x"})
    assert gone.status_code == 409
    assert "What you typed is kept" in gone.content.decode()


def test_two_windows_are_shown_both_texts(client: Client) -> None:
    of = given(client, Kind.READING)
    send(client, of, "1", notes="the first window")
    of.refresh_from_db()
    body = {"label": "0", "token": of.token, "evidence": "a" * 64, "seen_revision": 0, "notes": "the second"}
    clash = client.post(path(of, "submit/"), body)
    assert clash.status_code == 409
    html = clash.content.decode()
    assert "the first window" in html and "the second" in html
    assert Rating.objects.count() == 1


def test_tags_and_a_choice_come_back_from_the_draft(client: Client) -> None:
    of = given(client, Kind.READING)
    client.post(path(of, "draft/"), {"field": "choice", "text": "partial unsafe"})
    html = page(client, of)
    assert re.findall(r'value="(\w+)" checked', html) == ["partial", "unsafe"]
    send(client, of, "1", tags=["partial"])
    assert Rating.objects.get().tags == ["partial"]


def test_decisions_stay_in_reach_and_undo_opens_the_pair_again(client: Client) -> None:
    of = given(client, Kind.READING)
    send(client, of, "1", notes="kept")
    following = client.get(f"/rate/{of.condition.study_id}/next/", follow=True).content.decode()
    assert "Your last decisions" in following
    assert path(of) in following
    assert "now</span>" in page(client, of), "it can still be changed"
    client.post(f"/rate/{of.condition.study_id}/undo/")
    of.refresh_from_db()
    assert of.state == State.RESERVED
    assert "kept" in page(client, of)


def test_skipping_needs_a_reason(client: Client) -> None:
    of = given(client, Kind.READING)
    assert client.post(path(of, "skip/"), {"token": of.token, "reason": " "}).status_code == 422
    assert client.post(path(of, "skip/"), {"token": of.token, "reason": "not Python"}).status_code == 302
    of.refresh_from_db()
    assert (of.state, of.skip_reason) == (State.SKIPPED, "not Python")
    assert "You skipped this pair: not Python" in page(client, of)


def welcomed(client: Client, **columns: Any) -> Enrolment:
    study = studies.study(information="**Your** rights\n\n<script>alert(1)</script>", **columns)
    rita = studies.rater("rita", study, accepted_at=None)
    client.force_login(rita.user)
    return rita


def test_information_and_profile_come_before_the_first_pair(client: Client) -> None:
    rita = welcomed(client)
    here = f"/rate/{rita.study_id}/"
    html = client.get(f"{here}next/", follow=True).content.decode()
    assert "<strong>Your</strong>" in html
    assert "<script>alert" not in html and "&lt;script&gt;" in html
    bad = client.post(here, {"years": "many", "occupation": "", "languages": "German"})
    assert bad.status_code == 422
    assert "whole number" in bad.content.decode() and "German" in bad.content.decode()
    assert (
        client.post(here, {"years": "7", "occupation": "student", "languages": "German"}).status_code == 302
    )
    rita.refresh_from_db()
    assert (rita.years_of_python, rita.occupation) == (7, "student")
    assert rita.accepted_at is not None
    assert "/pairs/" in client.get(f"{here}next/").headers["Location"]


def test_a_new_version_of_the_guidelines_is_read_before_the_next_pair(client: Client) -> None:
    of = given(client, Kind.READING)
    study = of.condition.study
    study.guideline = Guideline.objects.create(
        name="rules", version=2, text="# New", change="meaning", note="edge cases count", worked_cases=[{}]
    )
    study.save()
    assert "The guidelines have changed" in page(client, of)
    send(client, of, "1")
    assert client.get(f"/rate/{study.pk}/next/").headers["Location"] == f"/rate/{study.pk}/"
    assert "edge cases count" in client.get(f"/rate/{study.pk}/guidelines/").content.decode()
    client.post(f"/rate/{study.pk}/guidelines/", {"guideline": "0"})
    assert "/pairs/" not in client.get(f"/rate/{study.pk}/next/").headers["Location"], "another version"
    read = client.post(f"/rate/{study.pk}/guidelines/", {"guideline": str(study.guideline.pk)})
    assert read.headers["Location"] == f"/rate/{study.pk}/next/"
    assert "/pairs/" in client.get(f"/rate/{study.pk}/next/").headers["Location"]


def test_the_list_says_what_is_left(client: Client) -> None:
    of = given(client, Kind.READING)
    send(client, of, "1", seconds="61.5")
    html = client.get("/rate/").content.decode()
    assert "first study" in html
    assert re.search(r'data-label="Rated">1<', html) and re.search(r'data-label="Left">2<', html)
    assert re.search(r'data-label="Time so far">1 min', html)
    assert re.search(r'data-label="About to come">2 min', html)


def test_an_empty_list_says_what_to_do(client: Client) -> None:
    client.force_login(factories.erin())
    html = client.get("/rate/").content.decode()
    assert "An admin enrols experts" in html
    assert ">Rate</a>" not in html, "no entry for those who are in no study"


def test_the_navigation_leads_raters_there(client: Client) -> None:
    given(client, Kind.READING)
    assert '<a href="/rate/" aria-current="page">Rate</a>' in client.get("/rate/").content.decode()


def test_a_draft_study_is_nowhere(client: Client) -> None:
    of = given(client, Kind.READING, state=Study.State.DRAFT)
    assert client.get(path(of)).status_code == 404
    assert client.get(f"/rate/{of.condition.study_id}/").status_code == 404


def test_a_closed_study_can_be_looked_at_only(client: Client) -> None:
    of = given(client, Kind.OWN_TESTS)
    Study.objects.update(state=Study.State.CLOSED, closed_at=timezone.now())
    assert '<fieldset class="label-fields" disabled>' in page(client, of)
    assert send(client, of, "1").status_code == 422
    assert not Rating.objects.exists()
    assert "is closed" in client.get(f"/rate/{of.condition.study_id}/").content.decode()


@pytest.mark.parametrize("kind", Kind.values)
def test_it_costs_few_queries(
    client: Client, case: Case, kind: str, django_assert_max_num_queries: Any
) -> None:
    of = given(client, kind, case)
    with django_assert_max_num_queries(31):
        page(client, of)
