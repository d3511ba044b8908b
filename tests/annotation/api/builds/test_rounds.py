"""Rounds and merges over the API, and a launch of several rounds."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.derived import round_merge
from annotation.models import Build, Merge
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def build() -> Build:
    return factories.said(factories.opened("thrice", rounds=3), (1, 1, 0), (1, 0, 0), (1, 1, 0))


def get(client: Client, path: str) -> Any:
    answer = client.get(f"/api/{path}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def post(client: Client, path: str, **data: Any) -> Any:
    return client.post(f"/api/{path}", data, content_type="application/json")


def test_rounds_are_told_beside_each_other(ray: Client, build: Build) -> None:
    told = get(ray, f"builds/{build.pk}/rounds")

    assert (told["pairs"], told["parted"], len(told["rounds"])) == (9, 1, 3)
    assert told["agreement"]["pairs"] == 3
    assert {"matches": 2, "no_matches": 1, "pairs": 1} in told["said"]
    majority = next(one for one in told["rules"] if one["rule"] == "majority")
    assert (majority["matches"], majority["no_matches"], majority["unjudged"]) == (2, 1, 6)
    assert get(ray, f"builds/{build.pk}")["rounds"] == 3


def test_a_merge_is_asked_for_and_told(ada: Client, build: Build) -> None:
    answer = post(ada, f"builds/{build.pk}/merges", rule="majority")
    assert answer.status_code == 201 and answer.json()["finished_at"] is None
    round_merge.advance_waiting_merges()
    told = get(ada, f"builds/{build.pk}/rounds")["merges"]
    assert [(one["rule"], one["asked_by"], one["new_or_changed"]) for one in told] == [("majority", "ada", 3)]


def test_what_can_not_be_merged_is_a_conflict(ada: Client) -> None:
    build = factories.opened(rounds=2)
    assert post(ada, f"builds/{build.pk}/merges", rule="majority").status_code == 409
    assert post(ada, f"builds/{build.pk}/merges", rule="coin").status_code == 422


def test_a_build_is_launched_and_estimated_in_rounds(ada: Client) -> None:
    order = {
        "name": "in rounds",
        "queries": factories.queries().pk,
        "functions": factories.snippets().pk,
        "encoders": ["bow"],
        "k": 1,
        "rounds": 3,
        "sampling": {"temperature": 0},
    }
    one = post(ada, "builds/estimate", **{**order, "rounds": 1}).json()["total"]["calls"]["expected"]
    told = post(ada, "builds/estimate", **order).json()
    assert told["rounds"] == 3 and told["pairs"] == 3
    assert float(told["total"]["calls"]["expected"]) == pytest.approx(3 * float(one), abs=1.5)

    made = post(ada, "builds", **order).json()
    assert made["rounds"] == 3
    assert "3 rounds at temperature 0" in made["events"][-1]["note"]
    assert post(ada, "builds", **{**order, "name": "many", "rounds": 10}).status_code == 422


def test_the_command_shows_the_rules_and_merges(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("merge", "thrice")
    assert "majority   2 match, 1 no match, 6 unjudged" in capsys.readouterr().out
    call_command("merge", "thrice", "--rule", "any_match")
    assert Merge.objects.get().rule == "any_match"
    with pytest.raises(CommandError, match="no build called"):
        call_command("merge", "nothing")
