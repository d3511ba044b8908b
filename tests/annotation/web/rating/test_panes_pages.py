"""The panes of a rater's page: which there are in each condition, and that an arrangement is kept."""

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
OWN = ["query", "code", "test", "run"]
ALL = [*OWN, "agent", "program", "execution"]


@pytest.fixture
def case() -> Case:
    first = factories.cases(factories.opened("zanzibar"))[0]
    return factories.examined(first, 0, source=PROGRAM)


def panes(html: str) -> list[str]:
    return re.findall(r'data-pane="(\w+)"', html)


def dividers(html: str) -> list[tuple[str, str]]:
    return re.findall(r'data-above="(\w+)" data-below="(\w+)"', html)


def arrange(client: Client, where: str, **sent: Any) -> int:
    return client.post(f"{reverse('review-layout')}?page={where}", sent).status_code


@pytest.mark.parametrize(
    ("kind", "expected", "between"),
    [
        (Kind.READING, ["query", "code"], [("query", "code")]),
        (Kind.OWN_TESTS, OWN, [("query", "code"), ("left", "middle"), ("test", "run")]),
        (Kind.REVEAL, OWN, [("query", "code"), ("left", "middle"), ("test", "run")]),
        (Kind.SECOND_LOOK, OWN, [("query", "code"), ("left", "middle"), ("test", "run")]),
        (
            Kind.AGENTS_TESTS,
            [*OWN, "program", "execution"],
            [
                ("query", "code"),
                ("left", "middle"),
                ("test", "run"),
                ("middle", "right"),
                ("program", "execution"),
            ],
        ),
    ],
)
def test_each_condition_has_its_panes_with_dividers_between_them(
    client: Client, case: Case, kind: str, expected: list[str], between: list[tuple[str, str]]
) -> None:
    html = page(client, given(client, kind, case))
    assert panes(html) == expected
    assert dividers(html) == between
    assert html.count('role="separator" tabindex="0"') == len(between)
    assert re.findall(r'data-closes-pane="(\w+)" aria-expanded="true"', html) == expected
    assert (
        f'data-columns="{1 + sum(pair in between for pair in [("left", "middle"), ("middle", "right")])}"'
        in html
    )


def test_behind_the_locked_label_everything_has_a_pane(client: Client, case: Case) -> None:
    of = given(client, Kind.REVEAL, case)
    send(client, of, "1")
    html = page(client, of)
    assert panes(html) == [*OWN[:2], "history", *OWN[2:], *ALL[4:]]
    assert ("code", "history") in dividers(html) and ("agent", "program") in dividers(html)


def test_two_snippets_have_a_pane_and_a_column_each(client: Client) -> None:
    html = page(client, of_two(client))
    assert panes(html) == ["query", "code", "other", "test", "run"]
    assert dividers(html) == [("query", "code"), ("left", "middle"), ("middle", "right"), ("test", "run")]
    assert re.findall(r"Show the (left|right) snippet", html) == ["left", "right"]
    assert "page=pairwise" in html


def test_the_next_pair_is_arranged_as_this_one_was_left(client: Client, case: Case) -> None:
    of = given(client, Kind.OWN_TESTS, case)
    assert arrange(client, "rating", **{"size-left": "60", "closed": ["run", "query"]}) == 204
    html = page(client, of)
    assert '<meta name="review-layout" content="left=60" data-closed="query run">' in html
    assert re.findall(r'is-closed" (?:id="[\w-]+" )?data-pane="(\w+)"', html) == ["query", "run"]
    assert html.count('aria-expanded="false"') == 2


def test_the_review_page_is_arranged_apart(client: Client, case: Case) -> None:
    of = given(client, Kind.OWN_TESTS, case)
    assert arrange(client, "review", **{"size-left": "30", "closed": ["code"]}) == 204
    assert '<meta name="review-layout" content="" data-closed="">' in page(client, of)
    assert arrange(client, "nowhere", closed=["code"]) == 400
    assert Preference.objects.get(user=of.rater).layout["closed"] == ["code"]


def test_what_comes_of_a_run_takes_the_place_of_its_pane(client: Client, case: Case) -> None:
    of = given(client, Kind.OWN_TESTS, case)
    client.post(path(of, "runs/"), {"source": "assert True"})
    where = path(of, f"runs/{ExecutionRequest.objects.get().pk}/")
    fragment = client.get(where, headers=HTMX).content.decode()
    assert panes(fragment) == ["run"] and 'data-closes-pane="run"' in fragment
    assert panes(client.get(where).content.decode()) == [], "on a page of its own there is nothing to arrange"
    refused = client.post(path(of, "runs/"), {"source": ""}, headers=HTMX)
    assert panes(refused.content.decode()) == ["run"]
