"""How a rater's page is arranged: two columns, and the tabs that each condition allows."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Case, Condition, ExecutionRequest, Preference
from tests import factories
from tests.rating_pages import PROGRAM, given, of_two, page, path, send

pytestmark = pytest.mark.django_db
Kind = Condition.Kind
HTMX = {"HX-Request": "true"}


@pytest.fixture
def case() -> Case:
    first = factories.cases(factories.opened("zanzibar"))[0]
    return factories.examined(first, 0, source=PROGRAM)


def panels(html: str) -> list[str]:
    return re.findall(r'tab-panel" id="panel-(\w+)"', html)


def tabs(html: str) -> list[str]:
    return re.findall(r'role="tab" id="tab-(\w+)"', html)


def rests_on(html: str) -> list[str]:
    return re.findall(r'data-rests="(\w+)"', html)


def arrange(client: Client, where: str, **sent: Any) -> int:
    return client.post(f"{reverse('review-layout')}?page={where}", sent).status_code


@pytest.mark.parametrize(
    ("kind", "expected", "rests"),
    [
        (Kind.READING, [], "reading"),
        (Kind.OWN_TESTS, ["own"], "own"),
        (Kind.REVEAL, ["own"], "own"),
        (Kind.SECOND_LOOK, ["own"], "own"),
        (Kind.AGENTS_TESTS, ["test", "trace", "own"], "agents"),
    ],
)
def test_each_condition_has_its_parts_beside_the_code(
    client: Client, case: Case, kind: str, expected: list[str], rests: str
) -> None:
    html = page(client, given(client, kind, case))
    assert panels(html) == expected
    assert tabs(html) == (expected if "test" in expected else []), "one part alone needs no tab"
    assert rests_on(html) == [rests]
    assert html.count('role="separator" tabindex="0"') == 1
    assert html.count("<h1") == 1 and html.index("<h1") < html.index('id="pane-code"')


def test_behind_the_locked_label_both_labels_come_first_and_then_the_evidence(
    client: Client, case: Case
) -> None:
    of = given(client, Kind.REVEAL, case)
    send(client, of, "1")
    html = page(client, of)
    said = re.sub(r"<[^>]+>|\s+", " ", html.split('id="locked"')[1].split("</p>")[0])
    assert re.search(r"You said: +✓ +match +→ +agents said: +\S+ +(no )?match", " ".join(said.split()))
    assert panels(html) == tabs(html) == ["test", "trace", "own"]
    assert rests_on(html) == ["agents"]
    assert html.index('id="locked"') < html.index('id="label-form"') < html.index('id="panel-test"')


def test_the_last_labels_are_folded(client: Client, case: Case) -> None:
    of = given(client, Kind.REVEAL, case)
    assert "Your last labels" not in page(client, of)
    send(client, of, "1")
    assert re.search(r'<details class="panel rate-last" id="pane-history">', page(client, of))


def test_the_open_pair_has_no_link_to_the_open_pair(client: Client) -> None:
    of = given(client, Kind.READING)
    assert "To the open pair" not in page(client, of)
    send(client, of, "1")
    assert "To the open pair" in page(client, of)


def test_two_snippets_share_the_left_column(client: Client) -> None:
    html = page(client, of_two(client))
    assert rests_on(html) == ["two"] and panels(html) == ["own"]
    assert re.findall(r'id="pane-(code|other)"', html) == ["code", "other"]
    assert "page=pairwise" in html


def test_the_next_pair_is_arranged_as_this_one_was_left(client: Client, case: Case) -> None:
    of = given(client, Kind.OWN_TESTS, case)
    assert arrange(client, "rating", **{"size-left": "60"}) == 204
    assert '<meta name="review-layout" content="left=60">' in page(client, of)


def test_the_review_page_is_arranged_apart(client: Client, case: Case) -> None:
    of = given(client, Kind.OWN_TESTS, case)
    assert arrange(client, "review", **{"size-left": "30"}) == 204
    assert '<meta name="review-layout" content="">' in page(client, of)
    assert arrange(client, "nowhere") == 400
    assert Preference.objects.get(user=of.rater).layout["sizes"] == {"left": 30}


def test_what_comes_of_a_run_stands_below_its_test(client: Client, case: Case) -> None:
    of = given(client, Kind.OWN_TESTS, case)
    client.post(path(of, "runs/"), {"source": "assert True"})
    where = path(of, f"runs/{ExecutionRequest.objects.get().pk}/")
    fragment = client.get(where, headers=HTMX).content.decode()
    assert fragment.count('id="run"') == 1 and "data-pane" not in fragment
    refused = client.post(path(of, "runs/"), {"source": ""}, headers=HTMX)
    assert 'data-state="refused"' in refused.content.decode()
