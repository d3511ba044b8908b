"""What a rater's page shows of the agents in each condition, and what it never does."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotation.models import (
    Case,
    Condition,
    ExecutionRequest,
    Rating,
    Seen,
    TestProgram,
)
from sandbox.reports.report import Outcome
from tests import factories
from tests.rating_pages import (
    PROGRAM,
    change_what_agents_said,
    given,
    page,
    path,
    send,
    steady,
)

pytestmark = pytest.mark.django_db
Kind = Condition.Kind
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
    assert "Look a second time, with nothing new. Keep your label" in before and 'id="locked"' in before
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


def test_reveal_of_a_pair_that_no_agents_judged_says_so(client: Client) -> None:
    of = given(client, Kind.REVEAL)
    assert send(client, of, "1").status_code == 302
    html = page(client, of)
    assert "No agents judged this pair" in html
    assert "everything the agents did" not in html


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


@pytest.mark.parametrize("kind", Kind.values)
def test_it_costs_few_queries(
    client: Client, case: Case, kind: str, django_assert_max_num_queries: Any
) -> None:
    of = given(client, kind, case)
    with django_assert_max_num_queries(31):
        page(client, of)
