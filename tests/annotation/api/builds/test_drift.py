"""The drift check over the API: ordered, and what it found."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotation.models import Build, DriftCheck, DriftWatch, Seen
from tests import factories
from tests.annotation.api.builds.test_builds import order
from tests.annotation.web.drift.test_views import shifted
from tests.calls import get, post

pytestmark = pytest.mark.django_db


def test_each_check_comes_with_its_test(ada: Client) -> None:
    build = shifted()
    found = get(ada, f"builds/{build.pk}/drift")
    assert (found["every"], found["seed"], found["max_checks"], found["spent"]) == (3, 7, 2, "2")
    last, first = found["checks"]
    assert (last["shifted"], last["p_value"], last["lower"], last["cost"]) == (True, 0.0009, 2, "1")
    assert (first["is_baseline"], first["p_value"]) == (True, None)


def test_resuming_after_a_shift_takes_a_note(ada: Client) -> None:
    path = f"builds/{shifted().pk}/control"
    assert "say why" in post(ada, path, {"action": "resume"}, 409)["detail"]
    assert post(ada, path, {"action": "resume", "note": "better"})["state"] == "running"


def test_it_is_ordered_with_the_launch(ada: Client, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    made = post(
        ada,
        "builds",
        order(provider="live", unpriced=True, unconfirmed=True, model="m", drift_check=True),
        201,
    )
    assert DriftWatch.objects.get().pk == made["id"]
    assert [event["event"] for event in made["events"]].count("drift check") == 1
    refused = post(ada, "builds", order(name="other", drift_check=True), 422)
    assert "live model" in refused["detail"]


def test_without_one_there_is_nothing(ada: Client) -> None:
    get(ada, f"builds/{factories.opened().pk}/drift", 404)


ANSWERS = ((1, 1, 0), (1, 0.5, 0.5), (0, 0, 1), (0.5, 0.5, None), (0, 0, 0))


def pairs(client: Client, build: Build, query: str = "", status: int = 200) -> dict[str, Any]:
    found: dict[str, Any] = get(client, f"builds/{build.pk}/drift/pairs{query}", status)
    return found


def test_the_fixed_pairs_come_with_their_first_and_latest_answers(ada: Client) -> None:
    build = factories.opened()
    factories.settled(factories.cases(build)[0], 1)
    check = factories.drift_checked(build, *ANSWERS)
    found = pairs(ada, build)
    assert [one["case"] for one in found["items"]] == check.watch.drawn
    assert [one["moved"] for one in found["items"]] == ["lower", "lower", "higher", "judged_once", "agreed"]
    first = found["items"][0]
    assert first["first"] == {"verdict": 1.0, "explanation": "said at first"}
    assert first["again"] == {"verdict": 1.0, "explanation": "said again"}
    assert first["now"] == {"verdict": 0.0, "explanation": "said now"}
    assert (first["check"], first["place"], first["label"]) == (1, 1, 1)
    assert first["query"]["head"] == factories.cases(build)[0].pair.query.head
    assert found["items"][3]["now"]["verdict"] is None
    assert Seen.objects.filter(user=factories.ada()).count() == len(ANSWERS)


def test_they_are_cut_into_pages_and_chosen_by_how_they_moved(ada: Client) -> None:
    build = factories.opened()
    factories.drift_checked(build, *ANSWERS)
    places, after = [], 0
    while after is not None:
        page = pairs(ada, build, f"?limit=2&after={after}")
        assert len(page["items"]) <= 2
        places += [one["place"] for one in page["items"]]
        after = page["next"]
    assert places == [1, 2, 3, 4, 5]
    down = pairs(ada, build, "?moved=lower&limit=1")
    assert ([one["place"] for one in down["items"]], down["next"]) == ([1], 1)
    assert [one["place"] for one in pairs(ada, build, "?moved=lower&after=1")["items"]] == [2]
    pairs(ada, build, "?moved=sideways", 422)


def test_a_check_is_named_by_its_number(ada: Client) -> None:
    build = factories.opened()
    factories.drift_checked(build, *ANSWERS)
    baseline = pairs(ada, build, "?check=0")["items"]
    assert {one["check"] for one in baseline} == {0}
    assert [one["moved"] for one in baseline] == ["agreed", "lower", "agreed", "agreed", "agreed"]
    assert {one["again"] for one in baseline} == {None} and baseline[0]["now"]["explanation"] == "said again"
    pairs(ada, build, "?check=9", 404)


def test_pairs_that_are_still_asked_are_not_here(ada: Client) -> None:
    build = factories.opened()
    check = factories.drift_checked(build, *ANSWERS)
    DriftCheck.objects.filter(pk=check.pk).update(finished_at=None)
    assert {one["check"] for one in pairs(ada, build)["items"]} == {0}, "the latest that is finished"
    pairs(ada, build, "?check=1", 404)
    pairs(ada, factories.opened("without one"), status=404)


def test_the_pairs_are_for_admins(erin: Client) -> None:
    build = factories.opened()
    factories.drift_checked(build, *ANSWERS)
    pairs(erin, build, status=403)
