"""The canary over the API: its figures, going on, skipping."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotation.models import Build, Canary, Tally
from annotation.models.builds.build import NANO
from tests import factories
from tests.annotation.api.builds.test_builds import order
from tests.annotation.builds.results.test_canary_statistics import with_canary
from tests.calls import get, post

pytestmark = pytest.mark.django_db


def test_the_figures_come_with_their_intervals(ada: Client) -> None:
    build = with_canary()
    Tally.objects.update(spent=8 * NANO)
    found = get(ada, f"builds/{build.pk}/canary")
    assert (found["cases"], found["pairs"], found["seed"], found["waits_for_decision"]) == (9, 900, 7, False)
    assert found["measures"]["cost"]["value"] == "1"
    assert found["projected_total"]["value"] == "900"
    assert found["measures"]["matches"]["part"], found["measures"]["matches"]["whole"] == (3, 5)
    assert found["measures"]["matches"]["low"] == pytest.approx(0.2307, abs=1e-3)
    assert found["compared_with"] is None


def test_going_on_is_an_action(ada: Client) -> None:
    build = with_canary()
    Build.objects.update(state=Build.State.CANARY)
    assert get(ada, f"builds/{build.pk}")["state"] == "canary"
    assert post(ada, f"builds/{build.pk}/control", {"action": "go_on"})["state"] == "running"
    found = get(ada, f"builds/{build.pk}/canary")
    assert found["decided_by"] == "ada"
    post(ada, f"builds/{build.pk}/control", {"action": "go_on"}, 409)


def test_without_one_there_is_nothing(ada: Client) -> None:
    build = factories.opened()
    get(ada, f"builds/{build.pk}/canary", 404)


def test_skipping_it_takes_a_reason(ada: Client, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    live = order(provider="live", unpriced=True, unconfirmed=True, model="m")
    post(ada, "builds", live, 201)
    assert Canary.objects.count() == 1
    made = post(ada, "builds", live | {"name": "other", "skip_canary": "prompts are proven"}, 201)
    assert Canary.objects.count() == 1
    skipped = next(event for event in made["events"] if event["event"] == "skipped the canary")
    assert (skipped["user"], skipped["note"]) == ("ada", "prompts are proven")
