"""The queries of a build and their candidates over the API."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Build, Case, Seen
from retrieval.models import Candidate
from tests import factories
from tests.calls import cost, get, pages

pytestmark = pytest.mark.django_db


@pytest.fixture
def build() -> Build:
    """Three queries with three cases each, of which the first query's are decided."""
    build = factories.opened()
    first, second, third = factories.cases(build)[:3]
    factories.settled(first, 1)
    factories.examined(second, 0)
    factories.abandoned(third)
    return build


def test_each_query_comes_with_counts_over_its_candidates(ray: Client, build: Build) -> None:
    rows = get(ray, f"builds/{build.pk}/queries")["items"]
    assert [row["query"]["head"] for row in rows] == list(factories.QUERIES)
    counts = {name: rows[0][name] for name in ("candidates", "settled", "matches", "abandoned")}
    assert counts == {"candidates": 3, "settled": 2, "matches": 1, "abandoned": 1}
    assert rows[1]["settled"] == 0


def test_queries_come_in_pages(ray: Client, build: Build) -> None:
    rows = pages(ray, f"builds/{build.pk}/queries", 2)
    assert [row["query"]["head"] for row in rows] == list(factories.QUERIES)


def test_queries_can_be_searched(ray: Client, build: Build) -> None:
    rows = get(ray, f"builds/{build.pk}/queries", q="ISO")["items"]
    assert [row["query"]["head"] for row in rows] == ["parse an iso date"]
    assert get(ray, f"builds/{build.pk}/queries", q="%")["items"] == []


def test_candidates_come_by_rank_with_scores_and_what_became_of_them(ray: Client, build: Build) -> None:
    query = factories.cases(build)[0].query_id
    rows = get(ray, f"builds/{build.pk}/queries/{query}/candidates")["items"]
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert rows[1]["score"] == 0.5
    assert rows[1]["scores"] == {"bm25": {"entering": 0.5, "raw": 5.0}}
    assert [(row["case"]["stage"], row["case"]["label"]) for row in rows] == [
        ("settled", 1),
        ("settled", 0),
        ("abandoned", None),
    ]
    assert [row["id"] for row in pages(ray, f"builds/{build.pk}/queries/{query}/candidates", 2)] == [
        row["id"] for row in rows
    ]


def test_a_candidate_without_a_case_has_none(ray: Client) -> None:
    build = factories.launched()
    query = build.queries.members.get(position=0).text
    factories.candidate(build.own_mining, query, build.snippets.members.get(position=0).text, 1)
    rows = get(ray, f"builds/{build.pk}/queries/{query.pk}/candidates")["items"]
    assert [row["case"] for row in rows] == [None]


def test_a_candidate_shows_the_case_of_each_round_the_first_one_first(ray: Client, build: Build) -> None:
    old = Case.objects.filter(build=build, label=1).get()
    again = Case.objects.create(
        build=build,
        candidate=old.candidate,
        pair=old.pair,
        query=old.query,
        annotator=old.annotator,
        rank=old.rank,
        round=2,
    )
    rows = get(ray, f"builds/{build.pk}/queries/{old.query_id}/candidates")["items"]
    first = {"id": old.pk, "round": 1, "stage": "settled", "label": 1, "label_in_force": 1}
    assert rows[0]["case"] == first
    second = {"id": again.pk, "round": 2, "stage": "screening", "label": None, "label_in_force": None}
    assert rows[0]["rounds"] == [first, second]
    assert get(ray, f"builds/{build.pk}/queries")["items"][0]["candidates"] == 3


def test_whoever_was_told_what_became_of_candidates_has_seen_their_pairs(ray: Client, build: Build) -> None:
    query = factories.cases(build)[0].query_id
    get(ray, f"builds/{build.pk}/queries/{query}/candidates", limit=2)
    seen = set(Seen.objects.filter(user=factories.ray()).values_list("pair", flat=True))
    assert seen == set(Candidate.objects.filter(query=query, rank__lte=2).values_list("pair", flat=True))


def test_lists_cost_the_same_however_long_they_are(ray: Client, build: Build) -> None:
    query = factories.cases(build)[0].query_id
    for path in (f"builds/{build.pk}/queries", f"builds/{build.pk}/queries/{query}/candidates"):
        get(ray, path)  # what was seen is written once
        assert cost(ray, path, limit=1) == cost(ray, path, limit=200) <= 9
