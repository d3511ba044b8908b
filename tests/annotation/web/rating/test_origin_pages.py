"""The link to a function's origin: on the page and in the API where the plan shows it, and nowhere else."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Condition
from annotation.studies.rating import shown_pair
from retrieval.models import Member
from sandbox.reports.report import Outcome
from tests import factories
from tests.rating_pages import PROGRAM, change_what_agents_said, given, page, steady

pytestmark = pytest.mark.django_db
LINK = "https://github.com/psf/requests/blob/0a1b2c/requests/api.py#L16-L30"
BLIND = (Condition.Kind.READING, Condition.Kind.OWN_TESTS)


@pytest.fixture(autouse=True)
def linked() -> None:
    """All functions come from one file of the web."""
    factories.snippets()
    Member.objects.update(origin=LINK)


@pytest.mark.parametrize("kind", BLIND)
def test_the_page_links_to_the_origin_and_sends_no_referrer(client: Client, kind: str) -> None:
    html = page(client, given(client, kind, shows_origin=True))
    assert f'href="{LINK}" target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer"' in html


@pytest.mark.parametrize("kind", BLIND)
def test_without_the_choice_nothing_of_it_is_shown(client: Client, kind: str) -> None:
    of = given(client, kind)
    assert "github.com" not in page(client, of)
    assert shown_pair.sides_of(of)[0].origin == ""


@pytest.mark.parametrize("origin", ["javascript:alert(1)", "written by agents", "python.zip"])
def test_what_is_no_link_is_not_shown(client: Client, origin: str) -> None:
    Member.objects.update(origin=origin)
    html = page(client, given(client, Condition.Kind.READING, shows_origin=True))
    assert origin not in html and "panel-origin" not in html


def test_a_page_with_a_link_is_blind_still(client: Client) -> None:
    first = factories.cases(factories.opened("zanzibar"))[0]
    Member.objects.update(origin=LINK)
    case = factories.examined(first, 0, factories.a_report(Outcome.FAILED), PROGRAM)
    of = given(client, Condition.Kind.OWN_TESTS, case, shows_origin=True)
    before = steady(page(client, of))
    assert LINK in before
    change_what_agents_said(case)
    assert steady(page(client, of)) == before


def test_the_link_is_part_of_what_was_on_screen(client: Client) -> None:
    of = given(client, Condition.Kind.READING, shows_origin=True)
    with_link = shown_pair.evidence_hash(of)
    Member.objects.update(origin="")
    assert shown_pair.evidence_hash(of) != with_link


def test_the_api_has_the_link(client: Client) -> None:
    of = given(client, Condition.Kind.READING, shows_origin=True)
    found = client.get(f"/api/rate/{of.condition.study_id}/pairs/{of.study_pair.number}").json()
    assert [side["origin"] for side in found["sides"]] == [LINK]
