"""Collections and their members over the API."""

from __future__ import annotations

import pytest
from django.test import Client

from retrieval.models import Collection, Member
from tests import factories
from tests.calls import cost, get, pages

pytestmark = pytest.mark.django_db


def test_collections_come_in_pages_and_can_be_narrowed(ray: Client) -> None:
    made = [factories.queries().pk, factories.snippets().pk]
    made += [factories.collection("queries", ["x"], f"more {n}").pk for n in range(3)]
    assert [row["id"] for row in pages(ray, "collections", 2)] == made
    assert [row["id"] for row in get(ray, "collections", kind="functions")["items"]] == [made[1]]
    assert [row["id"] for row in get(ray, "collections", name="small")["items"]] == made[:2]


def test_a_collection_says_what_it_is(ray: Client) -> None:
    made = factories.snippets()
    found = get(ray, f"collections/{made.pk}")
    assert found | {"name": "small", "kind": "functions", "version": 1, "size": 4} == found


def test_members_come_by_position_with_their_rules(ray: Client) -> None:
    made = factories.snippets()
    rows = pages(ray, f"collections/{made.pk}/members", 3)
    assert [row["position"] for row in rows] == [0, 1, 2, 3]
    assert rows[0]["source_id"] == "snippets-0"
    assert "testable" in rows[0]["rules"]
    assert rows[3]["rules"] == []


def test_members_can_be_narrowed_to_a_rule(ray: Client) -> None:
    made = factories.snippets()
    rows = get(ray, f"collections/{made.pk}/members", rule="testable")["items"]
    assert [row["position"] for row in rows] == [0, 1, 2]
    get(ray, f"collections/{made.pk}/members", 422, rule="best")


def test_a_list_shows_the_beginning_of_a_text_and_a_member_all_of_it(ray: Client) -> None:
    code = "def long(x):\n    return x" + " + 1" * 500
    made = factories.collection(Collection.Kind.SNIPPETS, [code])
    row = get(ray, f"collections/{made.pk}/members")["items"][0]["text"]
    assert (len(row["head"]), row["size"]) == (240, len(code))
    assert get(ray, f"collections/{made.pk}/members/0")["whole"] == code


def test_a_member_that_is_not_there(ray: Client) -> None:
    made = factories.queries()
    assert get(ray, f"collections/{made.pk}/members/99", 404)["type"] == "urn:cosqa:not-found"
    get(ray, "collections/999", 404)
    get(ray, "collections/999/members", 404)


def test_lists_cost_the_same_however_long_they_are(ray: Client) -> None:
    made = factories.snippets()
    assert Member.objects.count() == 4
    for path in ("collections", f"collections/{made.pk}/members"):
        assert cost(ray, path, limit=1) == cost(ray, path, limit=200) <= 5
