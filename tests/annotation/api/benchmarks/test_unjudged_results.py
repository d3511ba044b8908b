"""Unjudged results of a run over the API: priced, judged by agents or experts, published."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Build
from retrieval.models import Benchmark, Run
from tests import factories
from tests.annotation.derived.test_unjudged_results import judged, run
from tests.calls import get, post

__all__ = ["run"]  # a fixture
pytestmark = pytest.mark.django_db


def path_of(run: Run, then: str = "") -> str:
    return f"benchmarks/{run.benchmark_id}/unjudged{then}"


def test_a_system_is_named_and_its_unjudged_results_are_priced_and_launched(ada: Client, run: Run) -> None:
    wish = {"run": "mine"}
    assert post(ada, path_of(run, "/estimate"), wish)["unjudged"] == 2
    assert post(ada, path_of(run, "/estimate"), {"run": run.pk, "depth": 1})["unjudged"] == 1
    assert not Build.objects.exists()
    made = post(ada, path_of(run), {**wish, "reason": "a new system"}, 201)
    assert made["name"] == "small@1 filled"
    assert any("a new system" in event["note"] for event in made["events"])
    (row,) = get(ada, path_of(run))["items"]
    assert (row["id"], row["system"], row["pairs"], row["experts"]) == (made["id"], "mine", 2, False)


def test_a_live_build_needs_its_estimate(ada: Client, run: Run) -> None:
    wish = {"run": run.pk, "provider": "live", "model": "m", "unpriced": True}
    assert post(ada, path_of(run), wish, 422)["type"] == "urn:cosqa:launch-refused"
    assert not Build.objects.exists()


def test_experts_judge_them_and_lists_come_by_pages(ada: Client, run: Run) -> None:
    for name in ("first", "second"):
        post(ada, path_of(run, "/experts"), {"run": run.pk, "name": name, "reason": "people"}, 201)
    page = get(ada, path_of(run), limit=1)
    assert [row["name"] for row in page["items"]] == ["second"] and page["items"][0]["experts"]
    rest = get(ada, path_of(run), limit=1, after=page["next"])
    assert [row["name"] for row in rest["items"]] == ["first"] and rest["next"] is None


def test_what_was_said_becomes_the_next_version(ada: Client, run: Run) -> None:
    judged(run, 1, 0)
    job = post(ada, path_of(run, "/publish"), {"build": "filled"}, 201)
    assert job["state"] == "done"
    assert job["result"]["benchmark"] == Benchmark.objects.get(version=2).pk


def test_what_is_refused_says_why(ada: Client, run: Run) -> None:
    factories.opened("other")
    assert "has no run 'nobody'" in post(ada, path_of(run, "/estimate"), {"run": "nobody"}, 422)["detail"]
    assert post(ada, path_of(run, "/publish"), {"build": "other"}, 404)["type"] == "urn:cosqa:not-found"
    judged(run)
    job = post(ada, path_of(run, "/publish"), {"build": "filled"}, 201)
    assert (job["state"], "judged none of the pairs" in job["message"]) == ("failed", True)


def test_a_run_without_unjudged_results_has_nothing_to_judge(ada: Client, run: Run) -> None:
    judged(run, 1, 0)
    post(ada, path_of(run, "/publish"), {"build": "filled"}, 201)
    newest = Benchmark.objects.get(version=2)
    refused = post(ada, f"benchmarks/{newest.pk}/unjudged/estimate", {"run": "mine"}, 409)
    assert refused["type"] == "urn:cosqa:no-holes"
