"""The drift check over the API: ordered, and what it found."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotation.models import DriftWatch
from tests import factories
from tests.annotation.api.test_builds import order
from tests.annotation.views.test_drift import shifted
from tests.calls import get, post

pytestmark = pytest.mark.django_db


def test_each_check_comes_with_its_test(ada: Client) -> None:
    build = shifted()
    found = get(ada, f"builds/{build.pk}/drift")
    assert (found["every"], found["seed"], found["most"], found["spent"]) == (3, 7, 2, "2")
    last, first = found["checks"]
    assert (last["shifted"], last["p_value"], last["lower"], last["cost"]) == (True, 0.0009, 2, "1")
    assert (first["is_baseline"], first["p_value"]) == (True, None)


def test_resuming_after_a_shift_takes_a_note(ada: Client) -> None:
    path = f"builds/{shifted().pk}/control"
    assert "say why" in post(ada, path, {"action": "resume"}, 409)["detail"]
    assert post(ada, path, {"action": "resume", "note": "better"})["state"] == "running"


def test_it_is_ordered_with_the_launch(ada: Client, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    made = post(ada, "builds", order(provider="live", unpriced=True, model="m", drift_check=True), 201)
    assert DriftWatch.objects.get().pk == made["id"]
    assert [event["event"] for event in made["events"]].count("drift check") == 1
    refused = post(ada, "builds", order(name="other", drift_check=True), 422)
    assert "live model" in refused["detail"]


def test_without_one_there_is_nothing(ada: Client) -> None:
    get(ada, f"builds/{factories.opened().pk}/drift", 404)
