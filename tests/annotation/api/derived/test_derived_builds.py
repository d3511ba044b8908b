"""Extend a build and run its cases again, over the API."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Build, Case, Extension, Price, Rerun
from annotation.schemas.derived.derived_builds import ExtensionWish
from retrieval.models import Mining
from tests import factories
from tests.annotation.derived.extension.test_execution import add
from tests.calls import get, post

pytestmark = pytest.mark.django_db


def settled_build() -> Build:
    """Nine pairs: first candidates match, the others do not."""
    build = factories.opened()
    for case in factories.cases(build):
        factories.settled(case, int(case.rank == 1))
    Build.objects.filter(pk=build.pk).update(state=Build.State.DONE)
    return build


def test_the_chances_and_the_next_candidate_are_told(ada: Client) -> None:
    build = settled_build()
    build.tally.change(spent=9_000_000)
    found = get(ada, f"builds/{build.pk}/extensions")
    assert [(row["rank"], row["matches"]["part"], row["matches"]["whole"]) for row in found["chances"]] == [
        (1, 3, 3),
        (2, 0, 3),
        (3, 0, 3),
    ]
    assert (found["next"]["rank"], found["next"]["queries"]) == (4, 3)
    assert (found["next"]["cost_per_pair"], found["next"]["total"]) == ("0.001", "0.003")
    assert found["next"]["cost_per_match"] is None
    assert found["refused"] == ""


def test_an_extension_is_estimated_confirmed_listed_and_taken_back(ada: Client) -> None:
    build = settled_build()
    add(("sort words", "sort files"), build.queries)
    told = post(ada, f"builds/{build.pk}/extensions/estimate", {"queries": 1, "seed": 4})
    assert told["new_pairs"] == {"low": "3", "expected": "3", "high": "3"}
    assert not Extension.objects.exists()
    order = {"queries": 1, "seed": 4, "reason": "more", "estimate": told["confirm"]}
    made = post(ada, f"builds/{build.pk}/extensions", order, 201)
    assert (made["number"], made["state"], made["user"], made["seed"]) == (1, "mining", "ada", 4)
    assert get(ada, f"builds/{build.pk}")["state"] == "running"
    refused = post(ada, f"builds/{build.pk}/extensions", order, 409)
    assert refused["type"] == "urn:cosqa:control-refused"
    assert post(ada, f"builds/{build.pk}/extensions/cancel", {"note": "a slip"})["state"] == "cancelled"
    assert [row["state"] for row in get(ada, f"builds/{build.pk}/extensions")["extensions"]] == ["cancelled"]


def test_what_a_server_of_embeddings_was_asked_is_told_with_its_price(ada: Client) -> None:
    build = settled_build()
    add(("sort words", "sort files"), build.queries)
    factories.extended(build, ExtensionWish(queries=1), "more")
    asked = {"model": "text-large", "requests": 4, "tokens": 2_000_000, "untold": 0}
    Mining.objects.update(asked={"endpoint:text-large": asked})
    expected = {"encoder": "endpoint:text-large", **asked, "cost": None}
    assert get(ada, f"builds/{build.pk}")["mining"]["asked"] == [expected]
    long_ago = timezone.now() - timedelta(days=400)
    Price.objects.create(model="text-large", effective_from=long_ago, input="0.13", output=0)
    (row,) = get(ada, f"builds/{build.pk}/extensions")["extensions"]
    assert row["asked"] == [{**expected, "cost": "0.26"}]
    page = ada.get(reverse("build", args=[build.pk])).content.decode()
    assert page.count("endpoint:text-large: 2,000,000 tokens, $0.26") == 2, (
        "the build's own, and the extension's"
    )
    Mining.objects.update(asked={"endpoint:text-large": {**asked, "tokens": 0, "untold": 4}})
    assert get(ada, f"builds/{build.pk}")["mining"]["asked"][0]["cost"] is None
    Mining.objects.update(asked=None)
    assert get(ada, f"builds/{build.pk}")["mining"]["asked"] == []


def test_an_estimate_of_another_wish_does_not_hold(ada: Client) -> None:
    build = settled_build()
    add(("sort words", "sort files"), build.queries)
    word = post(ada, f"builds/{build.pk}/extensions/estimate", {"queries": 1, "seed": 4})["confirm"]
    order = {"queries": 2, "seed": 4, "reason": "more", "estimate": word}
    assert "changed" in post(ada, f"builds/{build.pk}/extensions", order, 422)["detail"]
    assert not Extension.objects.exists()


def test_cases_are_run_again_by_id_by_filter_and_by_flip(ada: Client) -> None:
    build = factories.opened()
    first, second, third = factories.cases(build)[:3]
    for case in (first, second, third):
        factories.examined(case, 1)
    path, order = f"builds/{build.pk}/again", {"start": "arbitrating"}
    told = post(ada, f"{path}/estimate", {**order, "name": "a", "where": "stage=settled"})
    assert (told["chosen"], told["cases"], told["fresh"]) == (3, 3, False)
    made = post(ada, path, {**order, "name": "a", "cases": [first.pk], "reason": "to see"}, 201)
    rerun = Rerun.objects.get(build=made["id"])
    assert (rerun.of, list(rerun.cases.all())) == (build, [first])
    assert made["annotator"]["config"]["again_from"] == "arbitrating"
    other = factories.opened("other")
    for case in factories.cases(other):
        factories.settled(case, int(case.pair_id != second.pair_id))
    flips = post(ada, f"{path}/estimate", {**order, "name": "b", "flips": other.pk})
    assert flips["chosen"] == 1
    assert (
        post(ada, path, {**order, "name": "a", "reason": "twice"}, 422)["type"] == "urn:cosqa:launch-refused"
    )
    assert Case.objects.filter(build=build).count() == 9


def test_candidates_of_an_extension_are_listed_once_behind_the_others(ada: Client) -> None:
    build = settled_build()
    query = factories.cases(build)[0].query
    mining = factories.mining(build.queries, build.snippets, k=4)
    extension = Extension.objects.create(
        build=build, number=1, mining=mining, state="opened", description="k"
    )
    texts = [member.text for member in build.snippets.members.select_related("text")]
    for rank, text in enumerate(texts, 1):
        candidate = factories.candidate(extension.mining, query, text, rank)
        if rank == 4:
            factories.open_case(build, candidate)
    path = f"builds/{build.pk}/queries/{query.pk}/candidates"
    rows = get(ada, path)["items"]
    assert [row["rank"] for row in rows] == [1, 2, 3, 4]
    first = get(ada, path, limit=3)
    assert [row["rank"] for row in get(ada, path, after=first["next"])["items"]] == [4]
