"""The list of a build's pairs over the API: filtered, tagged, assigned, shared out, kept by name."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.accounts.roles import Role
from annotation.models import Build, PairTag, ReviewAssignment, SavedList
from tests import factories
from tests.calls import get, pages, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def build() -> Build:
    made = factories.opened()
    found = factories.cases(made)
    factories.examined(found[0], 1)
    for case in found[1:]:
        factories.settled(case, 0)
    return made


def test_pairs_are_listed_by_the_filters_of_the_page(erin: Client, build: Build) -> None:
    path = f"builds/{build.pk}/pairs"
    cases = [case.pk for case in factories.cases(build)]
    assert sorted(row["case"] for row in pages(erin, path, 4)) == cases
    assert [row["case"] for row in pages(erin, path, 4, filters="label=1")] == cases[:1]
    assert [row["case"] for row in pages(erin, path, 3, filters="smart=untested&sort=rank")] != []


@pytest.mark.parametrize("filters", ["label=7", "lable=1", "smart=nothing", "seed=-1", "sort=size"])
def test_a_filter_that_there_is_not_is_refused(erin: Client, build: Build, filters: str) -> None:
    refused = get(erin, f"builds/{build.pk}/pairs", 422, filters=filters)
    assert refused["errors"][0]["where"] == "filters"


def test_tags_are_put_on_taken_off_and_undone(erin: Client, build: Build) -> None:
    path, cases = f"builds/{build.pk}/pairs", [case.pk for case in factories.cases(build)][:2]
    assert post(erin, f"{path}/tags", {"cases": cases, "tag": "partial"}) == {"changed": 2}
    assert post(erin, f"{path}/tags", {"cases": cases, "tag": "partial"}) == {"changed": 0}
    (first, _) = get(erin, path, filters="tag=partial")["items"]
    assert first["tags"] == ["partial"]
    assert post(erin, f"{path}/tags", {"cases": cases[:1], "tag": "partial", "remove": True}) == {
        "changed": 1
    }
    assert post(erin, f"{path}/undo", {}) == {"undone": "tag removed"}
    assert PairTag.objects.filter(removed=None).count() == 2
    assert post(erin, f"{path}/tags", {"cases": cases, "tag": "nothing"}, 422)["errors"][0]["where"] == "tag"
    assert post(erin, f"{path}/tags", {"cases": [10**9], "tag": "partial"}, 409)["type"] == (
        "urn:cosqa:list-change-refused"
    )


def test_pairs_are_assigned_by_name_and_shared_out(ada: Client, erin: Client, build: Build) -> None:
    path, cases = f"builds/{build.pk}/pairs", [case.pk for case in factories.cases(build)]
    factories.person("sam", Role.EXPERT)
    told = {"cases": cases[:1], "expert": "sam"}
    assert post(erin, f"{path}/assignments", told) == {"changed": 1}
    assert get(erin, path, filters="assigned=others")["items"][0]["assigned"] == ["sam"]
    assert post(erin, f"{path}/assignments", {**told, "remove": True}) == {"changed": 1}
    assert (
        post(erin, f"{path}/assignments", {**told, "expert": "nora"}, 422)["errors"][0]["where"] == "expert"
    )
    share = {"filters": "label=0", "experts": ["erin", "sam"], "overlap": 2, "seed": 4}
    post(erin, f"{path}/share", share, 403)
    assert post(ada, f"{path}/share", share) == {"pairs": 8, "assignments": 16}
    assert ReviewAssignment.objects.filter(removed=None).count() == 16
    assert "seed 4" in build.events.get(event="pairs shared out").note
    assert post(ada, f"{path}/share", {**share, "overlap": 3}, 409)


def test_lists_are_kept_shown_and_deleted_by_their_owner(erin: Client, ada: Client, build: Build) -> None:
    path = f"builds/{build.pk}/lists"
    made = post(erin, path, {"name": "mine", "filters": "label=1"}, 201)
    assert (made["filters"], made["user"]) == ("label=1", "erin")
    assert post(erin, path, {"name": "mine"}, 409)["type"] == "urn:cosqa:list-change-refused"
    assert get(ada, path)["items"] == [], "it is not shared"
    post(erin, path, {"name": "ours", "shared": True}, 201)
    assert [row["name"] for row in get(ada, path)["items"]] == ["ours"]
    assert post(ada, f"lists/{made['id']}/delete", {}) == {"deleted": False}
    assert post(erin, f"lists/{made['id']}/delete", {}) == {"deleted": True}
    assert SavedList.objects.get().name == "ours"
