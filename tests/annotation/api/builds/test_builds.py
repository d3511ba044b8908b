"""Read, launch and control builds over the API."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from annotation.models import Batch, Build, BuildEvent
from annotation.models.builds.build import NANO
from annotation.stages import Stage
from retrieval.mining import known_encoders
from tests import factories
from tests.calls import cost, get, pages, post
from tests.retrieval.exporting.conftest import benchmark

pytestmark = pytest.mark.django_db


def order(**changes: Any) -> dict[str, Any]:
    queries, snippets = factories.queries(), factories.snippets()
    return {
        "name": "night build",
        "queries": queries.pk,
        "functions": snippets.pk,
        "encoders": ["bm25"],
        **changes,
    }


def test_the_list_has_the_newest_first_in_pages(ray: Client) -> None:
    made = [factories.launched(f"build {number}").pk for number in range(5)]
    assert [build["id"] for build in pages(ray, "builds", 2)] == made[::-1]


def test_the_list_can_be_narrowed_to_a_state(ray: Client) -> None:
    factories.launched("one")
    paused = factories.launched("two", state=Build.State.PAUSED)
    assert [build["id"] for build in get(ray, "builds", state="paused")["items"]] == [paused.pk]


def test_the_list_costs_the_same_however_many_there_are(ray: Client) -> None:
    factories.launched("one")
    few = cost(ray, "builds")
    for number in range(4):
        factories.opened(f"more {number}")
    assert cost(ray, "builds") == few


def test_a_row_says_how_far_the_build_is(ray: Client) -> None:
    build = factories.opened()
    cases = factories.cases(build)
    factories.settled(cases[0], 1)
    factories.settled(cases[1], 0)
    factories.abandoned(cases[2])
    row = get(ray, "builds")["items"][0]
    assert row | {"pairs": 9, "settled": 2, "matches": 1, "abandoned": 1, "created_by": "ada"} == row
    assert row["queries"] == {"id": build.queries_id, "name": "small", "version": 1}


def test_the_detail_has_mining_annotator_progress_and_history(ray: Client) -> None:
    build = factories.opened(cap=3 * NANO // 2)
    case = factories.examined(factories.cases(build)[0], 1)
    build.tally.change(spent=1_250_000)
    factories.abandoned(factories.cases(build)[1], "no sandbox")
    found = get(ray, f"builds/{build.pk}")
    assert found["mining"]["encoders"] == ["bm25"]
    assert found["mining"]["rules"] == ["testable_by_call"]
    assert found["annotator"]["config"] == build.annotator.config
    assert found["progress"]["stages"] == dict.fromkeys(Stage, 0) | {
        "screening": 7,
        "settled": 1,
        "abandoned": 1,
    }
    assert found["progress"]["executable_rate"] == 1.0
    assert (found["progress"]["budget"], found["progress"]["spent"]) == ("1.5", "0.00125")
    assert found["progress"]["abandoned_because"] == [{"reason": "no sandbox", "cases": 1}]
    assert [event["event"] for event in found["events"]] == ["launched"]
    assert case.build_id == found["id"]


def test_the_detail_costs_the_same_however_big_the_build_is(
    ray: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    build = factories.opened()
    for case in factories.cases(build)[:5]:
        factories.abandoned(case)
    with django_assert_max_num_queries(15):
        get(ray, f"builds/{build.pk}")


def test_without_programs_there_is_no_executable_rate(ray: Client) -> None:
    assert get(ray, f"builds/{factories.opened().pk}")["progress"]["executable_rate"] is None


def test_launching_makes_a_build_that_waits_for_its_mining(ada: Client) -> None:
    made = post(
        ada,
        "builds",
        order(
            budget="2.50",
            limit=6,
            k=2,
            rule="any",
            query_rules=["distinct", "english"],
            model="m",
            fusion="maxabs",
        ),
        201,
    )
    build = Build.objects.get(pk=made["id"])
    assert build.created_by == factories.ada()
    assert (build.own_mining.k, build.own_mining.limit, build.own_mining.rule) == (2, 3, 0)
    assert build.tally.cap == 5 * NANO // 2
    assert made["state"] == "running"
    assert made["mining"]["state"] == "waiting"
    assert made["mining"]["rules"] == []
    assert made["mining"]["query_rules"] == ["english", "distinct"]
    assert made["mining"]["fusion"] == "maxabs"
    assert (made["mining"]["approximate"], made["mining"]["recall"]) == ("", None)


def test_approximate_search_is_ordered(ada: Client, settings: Settings) -> None:
    settings.CELERY_BROKER_URL = "redis://elsewhere"  # the machine that mines has the weights
    refused = post(ada, "builds", order(approximate="hnsw", encoders=["bm25", "minilm"]), 422)
    assert "holds vectors: choose encoders of vectors without bm25" in refused["detail"]
    assert (
        "fusion by mean"
        in post(ada, "builds", order(approximate="hnsw", encoders=["minilm"], fusion="maxabs"), 422)["detail"]
    )
    made = post(ada, "builds", order(approximate="hnsw", encoders=["minilm"]), 201)
    assert made["mining"]["approximate"] == "hnsw"


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"k": 0}, "k"),
        ({"k": "many"}, "k"),
        ({"encoders": []}, "encoders"),
        ({"budget": -1}, "budget"),
        ({"limit": 0}, "limit"),
        ({"provider": "recorded"}, "provider"),
        ({"rule": "best"}, "rule"),
        ({"query_rules": ["best"]}, "query_rules.0"),
        ({"queries": 2**63}, "queries"),
        ({"queries": ["mine"]}, "queries"),
        ({"queries": True}, "queries"),
        ({"bugdet": 1}, "bugdet"),
        ({"name": "n" * 121}, "name"),
        ({"name": "\ud800"}, "name"),
    ],
)
def test_a_wrong_order_says_where_it_is_wrong(ada: Client, changes: dict[str, Any], where: str) -> None:
    problem = post(ada, "builds", order(**changes), 422)
    assert problem["type"] == "urn:cosqa:invalid-request"
    assert [one["where"] for one in problem["errors"]] == [where]
    assert not Build.objects.exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "  "}, "name"),
        ({"encoders": ["word2vec"]}, "word2vec"),
        ({"encoders": ["bm25", "bm25"]}, "once"),
        ({"queries": 999_999}, "no collection of queries called 999999"),
    ],
)
def test_what_the_domain_refuses_is_said_in_its_words(
    ada: Client, changes: dict[str, Any], said: str
) -> None:
    problem = post(ada, "builds", order(**changes), 422)
    assert problem["type"] == "urn:cosqa:launch-refused"
    assert said in problem["detail"]


def test_a_hostile_name_is_stored_with_visible_marks(ada: Client) -> None:
    made = post(ada, "builds", order(name="nul\x00"), 201)
    assert made["name"] == "nul␀"


def test_pausing_and_resuming_are_recorded_with_who_and_why(ada: Client) -> None:
    build = factories.opened()
    path = f"builds/{build.pk}/control"
    assert post(ada, path, {"action": "pause", "reason": "lunch"}) == {"state": "paused", "cases": 0}
    assert post(ada, path, {"action": "resume"}) == {"state": "running", "cases": 0}
    event = BuildEvent.objects.get(event="pause")
    assert (event.note, event.user) == ("lunch", factories.ada())


def test_the_old_name_of_the_reason_is_still_read(ada: Client) -> None:
    post(ada, f"builds/{factories.opened().pk}/control", {"action": "pause", "note": "lunch"})
    assert BuildEvent.objects.get(event="pause").note == "lunch"


@pytest.mark.parametrize("name", ["mine", "mine@1"])
def test_collections_are_named_and_the_encoders_are_those_of_the_form(ada: Client, name: str) -> None:
    version = {"mine": 2, "mine@1": 1}[name]
    for number in (1, 2):
        for kind, texts in (("queries", factories.QUERIES), ("snippets", factories.SNIPPETS)):
            factories.collection(kind, texts, "mine", version=number)
    made = post(ada, "builds", {"name": "own", "queries": name, "functions": name}, 201)
    assert (made["queries"]["version"], made["functions"]["version"]) == (version, version)
    assert (made["mining"]["encoders"], made["mining"]["k"]) == (["bm25", "bow"], 20)
    assert made["mining"]["rules"] == ["testable_by_call"]


def test_a_benchmark_to_judge_is_named(ada: Client) -> None:
    made = benchmark()
    told = post(ada, "builds", {"name": "own", "pairs": {"benchmark": made.name}}, 201)
    assert told["pair_list"]["benchmark"] == made.pk
    refused = post(ada, "builds", {"name": "next", "pairs": {"benchmark": "gone"}}, 422)
    assert "no benchmark 'gone'" in refused["detail"]


def test_retrying_says_how_many_cases_go_back_to_work(ada: Client) -> None:
    build = factories.opened()
    for case in factories.cases(build)[:2]:
        factories.abandoned(case)
    assert post(ada, f"builds/{build.pk}/control", {"action": "retry"}) == {"state": "running", "cases": 2}


def test_what_the_state_forbids_is_a_conflict(ada: Client) -> None:
    build = factories.opened()
    post(ada, f"builds/{build.pk}/control", {"action": "cancel"})
    problem = post(ada, f"builds/{build.pk}/control", {"action": "pause"}, 409)
    assert problem["type"] == "urn:cosqa:control-refused"
    assert "cancelled" in problem["detail"]


def test_an_unknown_action_is_refused(ada: Client) -> None:
    post(ada, f"builds/{factories.opened().pk}/control", {"action": "delete"}, 422)


@pytest.mark.parametrize("pk", [0, 987_654, 2**63 - 1, 2**64])
def test_a_build_that_is_not_there(ray: Client, pk: int) -> None:
    response = ray.get(f"/api/builds/{pk}")
    assert response.status_code in {404, 422}
    assert response["Content-Type"] == "application/problem+json"


def test_a_build_that_hides_experts_labels_is_launched_so(ada: Client) -> None:
    assert post(ada, "builds", order(hides_reviews=True), 201)["hides_reviews"] is True
    assert Build.objects.get().hides_reviews


def test_a_build_is_launched_by_batch_and_shows_its_open_ones(ada: Client, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    live = order(provider="live", model="a-model", unpriced=True, unconfirmed=True, batches=True)
    found = post(ada, "builds", live, 201)
    assert found["batches"]
    build = Build.objects.get(pk=found["id"])
    now = timezone.now()
    for state in ("open", "ended"):
        Batch.objects.create(
            build=build,
            stage="screening",
            state=state,
            requests=9,
            provider_id=state,
            joined_at=now,
            has_room=False,
        )
    [shown] = get(ada, f"builds/{build.pk}")["progress"]["open_batches"]
    assert (shown["provider_id"], shown["requests"], shown["state"]) == ("open", 9, "open")


def test_a_build_is_ordered_as_in_the_paper(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_encoders, "why_missing", lambda name: "")
    made = post(ada, "builds", order(profile="paper", encoders=None), 201)
    assert made["annotator"]["config"]["profile"] == "paper"
    assert made["mining"]["encoders"] == ["codebert", "unixcoder", "codet5p"]
    for change, said in (
        ({"second_test": True}, "no second_test"),
        ({"encoders": ["bm25"]}, "encoders codebert, unixcoder, codet5p"),
        ({"k": 5, "fusion": "maxabs"}, "k 20, fusion mean"),
    ):
        wanted = order(name="other", profile="paper", **{"encoders": None, **change})
        refused = post(ada, "builds", wanted, 422)
        assert f"As in the paper means {said}: leave that out" in refused["detail"]
