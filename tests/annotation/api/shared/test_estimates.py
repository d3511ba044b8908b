"""Estimates over the API: the same figures as on the page, and a word to launch on them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from annotation.models import Build, Price
from tests import factories
from tests.calls import get, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def order(settings: Any) -> dict[str, Any]:
    settings.ANTHROPIC_API_KEY, settings.LLM_PROFILE = "a-key", "generic"
    Price.objects.create(model="a-model", effective_from=datetime(2026, 1, 1, tzinfo=UTC), input=1, output=5)
    return {
        "name": "night build",
        "queries": factories.queries().pk,
        "functions": factories.snippets().pk,
        "encoders": ["bm25"],
        "k": 2,
        "provider": "live",
        "model": "a-model",
    }


def test_an_estimate_has_stages_total_price_and_basis_and_makes_nothing(
    ada: Client, order: dict[str, Any]
) -> None:
    found = post(ada, "builds/estimate", order)
    assert found["pairs"] == 6
    assert [stage["stage"] for stage in found["stages"]] == [
        "screening",
        "reading",
        "writing_test",
        "fixing",
        "arbitrating",
        "tie_breaking",
        "neighbour_writer",
    ]
    assert found["total"]["calls"]["expected"] == "14"
    assert float(found["total"]["dollars"]["low"]) < float(found["total"]["dollars"]["high"])
    assert found["price"]["effective_from"].startswith("2026-01-01")
    assert {basis["source"] for basis in found["basis"]} == {"counted", "paper", "assumed"}
    assert not Build.objects.exists()


def test_an_estimate_needs_no_key_and_takes_a_typed_price(
    ada: Client, order: dict[str, Any], settings: Any
) -> None:
    settings.ANTHROPIC_API_KEY, settings.LLM_PROFILE = "", "anthropic"
    typed = order | {"model": "unknown", "price_in": "2", "price_out": "10"}
    found = post(ada, "builds/estimate", typed)
    twice = post(ada, "builds/estimate", typed | {"price_in": "4", "price_out": "20"})
    dollars = [float(one["total"]["dollars"]["expected"]) for one in (found, twice)]
    assert dollars[1] == pytest.approx(2 * dollars[0])
    refused = post(ada, "builds", typed | {"estimate": found["confirm"]}, 422)
    assert "set ANTHROPIC_API_KEY" in refused["detail"]


def test_it_is_launched_on_and_kept(ada: Client, order: dict[str, Any]) -> None:
    found = post(ada, "builds/estimate", order)
    post(ada, "builds", order | {"estimate": found["confirm"]}, 201)
    build = Build.objects.get()
    assert build.estimate and build.estimate["pairs"] == 6
    assert build.events.get(event="estimate confirmed").user == factories.ada()
    del found["confirm"]
    assert get(ada, f"builds/{build.pk}")["estimate"] == found


def test_a_launch_without_a_look_is_told_apart(ada: Client, order: dict[str, Any]) -> None:
    assert "unconfirmed" in post(ada, "builds", order, 422)["detail"]
    assert not Build.objects.exists()
    post(ada, "builds", order | {"unconfirmed": True}, 201)
    build = Build.objects.get()
    assert build.estimate and build.estimate["pairs"] == 6
    assert build.events.filter(event="estimated, confirmed by nobody").exists()


def test_what_is_free_is_not_estimated(ada: Client, order: dict[str, Any]) -> None:
    post(ada, "builds", order | {"provider": "exchange"}, 201)
    assert Build.objects.get().estimate is None


def test_an_estimate_of_other_sampling_confirms_nothing(ada: Client, order: dict[str, Any]) -> None:
    found = post(ada, "builds/estimate", order)
    wordy = order | {"sampling": {"temperature": 1}, "estimate": found["confirm"]}
    assert "has changed" in post(ada, "builds", wordy, 422)["detail"]


def test_an_estimate_of_something_else_is_refused(ada: Client, order: dict[str, Any]) -> None:
    found = post(ada, "builds/estimate", order)
    problem = post(ada, "builds", order | {"k": 3, "estimate": found["confirm"]}, 422)
    assert problem["type"] == "urn:cosqa:launch-refused"
    assert "has changed" in problem["detail"]
    assert not Build.objects.exists()


def test_what_could_not_be_launched_is_not_estimated(ada: Client, order: dict[str, Any]) -> None:
    problem = post(ada, "builds/estimate", order | {"model": "unknown"}, 422)
    assert "What unknown costs is not known" in problem["detail"]
