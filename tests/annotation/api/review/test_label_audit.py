"""Given pairs and their audit over the API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation.models import Build
from retrieval.models import PairList
from tests import factories, given, studies
from tests.calls import get, post

pytestmark = pytest.mark.django_db
PAIRS = [
    {"query": "sort a list", "code": "def f(x): return sorted(x)", "label": 1},
    {"query": "sort a list", "code": "def g(x): return x", "label": 0},
    {"query": "add", "code": "def h(x, y): return x + y"},
]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    return given.judged(given.pair_list(tmp_path), 0, 0, None, 1, 1)


def send(client: Client, path: str, data: Any) -> Any:
    return client.post(f"/api/{path}", data, content_type="application/json")


def test_pairs_are_given_and_judged(ada: Client) -> None:
    made = post(ada, "pairs", {"name": "mine", "pairs": PAIRS}, 201)
    assert (made["name"], made["pairs"]) == ("mine", 3) and made["benchmark"] is not None
    assert post(ada, "pairs", {"name": "mine", "pairs": PAIRS}, 201)["id"] == made["id"]
    build = post(ada, "builds", {"name": "audit", "pairs": {"list": made["id"]}}, 201)
    assert (build["mining"], build["pair_list"]["id"]) == (None, made["id"])
    second = post(ada, "builds", {"name": "again", "pairs": {"benchmark": made["benchmark"]}}, 201)
    assert second["pair_list"]["pairs"] == 2


def test_several_annotators_judge_the_same_pairs(ada: Client) -> None:
    made = post(ada, "pairs", {"name": "mine", "pairs": PAIRS}, 201)
    order = {
        "name": "both",
        "pairs": {"list": made["id"]},
        "annotators": ["agents", "single_exact", "experts"],
    }
    builds = post(ada, "builds/several", order, 201)
    assert [build["name"] for build in builds] == ["both agents", "both single_exact", "both experts"]
    assert {build["pair_list"]["id"] for build in builds} == {made["id"]}
    assert list(Build.objects.order_by("pk").values_list("for_experts", flat=True)) == [False, False, True]
    assert send(ada, "builds/several", order).status_code == 422  # the names are taken
    assert send(ada, "builds/several", order | {"name": "x", "annotators": ["agents"]}).status_code == 422
    mined = {
        "name": "mined",
        "queries": factories.queries().pk,
        "functions": factories.snippets().pk,
        "encoders": ["bm25"],
        "annotators": ["agents", "experts"],
    }
    answer = send(ada, "builds/several", mined)
    assert answer.status_code == 422 and "judge given pairs" in answer.content.decode()
    assert Build.objects.count() == 3


@pytest.mark.parametrize(
    "order",
    [
        {"name": "audit"},
        {"name": "audit", "pairs": {}},
        {"name": "audit", "pairs": {"list": 1, "benchmark": 1}},
        {"name": "audit", "pairs": {"list": 99}},
        {"name": "audit", "pairs": {"benchmark": 99}},
    ],
)
def test_an_order_without_a_source_is_refused(ada: Client, order: dict[str, Any]) -> None:
    assert send(ada, "builds", order).status_code == 422
    assert not Build.objects.exists()


def test_bad_pairs_are_told_and_only_admins_give_them(ada: Client, erin: Client) -> None:
    answer = send(ada, "pairs", {"name": "mine", "pairs": [*PAIRS, {"query": "no code"}]})
    assert answer.status_code == 422 and "pair 4: has no" in answer.content.decode()
    assert send(erin, "pairs", {"name": "mine", "pairs": PAIRS}).status_code == 403
    assert not PairList.objects.exists()


def test_the_audit_has_cells_and_rates(ray: Client, build: Build) -> None:
    found = get(ray, f"builds/{build.pk}/audit")
    assert (found["pairs"], found["queries"], found["pair_list"]["name"]) == (5, 4, "dev.json")
    (one,) = found["builds"]
    assert sum(cell["pairs"] for cell in one["cells"]) == 5
    rate = next(
        rate for rate in one["rates"] if (rate["what"], rate["original"], rate["by"]) == ("upheld", 0, "")
    )
    assert (rate["part"], rate["whole"], rate["value"]) == (1, 2, 0.5)


def test_its_pairs_come_by_page_those_that_differ_first(ray: Client, build: Build) -> None:
    first = get(ray, f"builds/{build.pk}/audit/pairs", limit=2)
    assert [row["differs"] for row in first["items"]] == [True, True]
    rest = get(ray, f"builds/{build.pk}/audit/pairs", after=first["next"])
    assert len(rest["items"]) == 3 and rest["next"] is None
    chosen = get(ray, f"builds/{build.pk}/audit/pairs", said="abandoned")["items"]
    assert [row["builds"][0]["how"] for row in chosen] == ["abandoned"]


def test_it_is_closed_while_the_caller_rates_and_for_mined_builds(
    client: Client, ray: Client, build: Build
) -> None:
    mined = factories.opened("mined")
    assert ray.get(f"/api/builds/{mined.pk}/audit").status_code == 404
    rater = studies.rater("rita", studies.study(pairs=[factories.cases(mined)[0].pair]))
    client.force_login(rater.user)
    assert client.get(f"/api/builds/{build.pk}/audit").status_code == 403


def test_scores_of_given_pairs_are_null(ray: Client, build: Build) -> None:
    cases = get(ray, f"builds/{build.pk}/cases")["items"]
    assert {case["score"] for case in cases} == {None}
