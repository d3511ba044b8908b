"""Functions for missing queries over the API: ordered, read, decided about, taken back, exported."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Filling
from tests import filling
from tests.calls import get, pages, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def job() -> Filling:
    return filling.checked()


def test_an_admin_counts_and_orders(ada: Client) -> None:
    build = filling.source(matched=1)
    told = get(ada, f"builds/{build.pk}/missing")
    assert (told["queries"], told["without"], told["matched"], told["jobs"]) == (3, 2, 1, [])
    made = post(ada, f"builds/{build.pk}/missing", {"name": "more", "budget": "2"}, 201)
    assert made["name"] == "more" and made["progress"]["budget"] == "2"
    assert get(ada, f"builds/{build.pk}/missing")["jobs"] == [made["id"]]
    assert (
        post(ada, f"builds/{build.pk}/missing", {"name": "again"}, 422)["type"] == "urn:cosqa:launch-refused"
    )


def test_functions_are_listed_for_the_build_and_for_the_job(erin: Client, job: Filling) -> None:
    rows = pages(erin, f"builds/{job.of_id}/functions", 2)
    assert rows == pages(erin, f"builds/{job.build_id}/functions", 2)
    assert [(row["waits"], row["agents_label"]) for row in rows] == [(True, 1), (True, 0), (True, None)]
    assert rows[2]["failure"]


def test_an_expert_decides_and_takes_back(erin: Client, job: Filling) -> None:
    row = get(erin, f"builds/{job.build_id}/functions", waiting=True)["items"][0]
    whole = get(erin, f"functions/{row['id']}")
    assert whole["report"]["outcome"] == "passed" and "assert" in whole["test_program"]
    sent = {"action": "accept", "seen_revision": whole["seen_revision"]}
    made = post(erin, f"functions/{row['id']}/decisions", sent, 201)
    assert made["state"] == "accepted" and made["decisions"][0]["label"]
    [written] = get(erin, f"builds/{job.of_id}/written")["items"]
    assert written["provenance"]["decided_by"] == "erin"
    back = post(erin, f"functions/{row['id']}/undo", {"seen_revision": 1}, 201)
    assert back["state"] == "written" and [one["action"] for one in back["decisions"]] == ["accept", "undo"]
    assert get(erin, f"builds/{job.of_id}/written")["items"] == []


def test_a_lost_race_shows_both(erin: Client, ada: Client, job: Filling) -> None:
    path = f"functions/{job.proposals.order_by('pk')[0].pk}/decisions"
    post(erin, path, {"action": "reject", "seen_revision": 0, "reason": "no"}, 201)
    problem = post(ada, path, {"action": "accept", "seen_revision": 0, "reason": "yes"}, 409)
    assert problem["type"] == "urn:cosqa:decided-meanwhile"
    assert (problem["stored"]["reason"], problem["yours"]["reason"]) == ("no", "yes")


def test_what_is_no_decision_is_refused(erin: Client, job: Filling) -> None:
    path = f"functions/{job.proposals.order_by('pk')[0].pk}"
    bad = post(erin, f"{path}/decisions", {"action": "edit", "seen_revision": 0, "code": "def ("}, 422)
    assert bad["type"] == "urn:cosqa:bad-decision" and "line 1" in bad["detail"]
    assert post(erin, f"{path}/undo", {"seen_revision": 1}, 409)["type"] == "urn:cosqa:nothing-to-undo"
