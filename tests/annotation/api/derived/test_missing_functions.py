"""Functions for missing queries over the API: ordered, read, decided about, taken back, exported."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Filling, Price, Proposal
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


def test_a_live_job_is_launched_on_its_estimate_or_unconfirmed(ada: Client, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    Price.objects.create(model="small-model", effective_from=timezone.now(), input=1, output=5)
    path = f"builds/{filling.source().pk}/missing"
    order = {"name": "more", "provider": "live", "model": "small-model", "limit": 2, "reason": "for the gaps"}
    assert "unconfirmed: true" in post(ada, path, order, 422)["detail"]
    told = post(ada, f"{path}/estimate", order, 200)
    assert (told["queries"], told["pairs"]) == (2, 2) and not Filling.objects.exists()
    assert told["stages"][0]["stage"] == "snippet_writer"
    refused = post(ada, path, order | {"tries": 3, "estimate": told["confirm"]}, 422)
    assert "has changed" in refused["detail"]
    made = post(ada, path, order | {"estimate": told["confirm"]}, 201)
    assert made["estimate"]["total"]["dollars"] == told["total"]["dollars"]
    events = {event["event"]: event["note"] for event in made["events"]}
    assert "for the gaps" in events["launched"] and "estimate confirmed" in events
    unseen = post(ada, path, order | {"name": "the rest", "unconfirmed": True}, 201)
    assert "estimated, confirmed by nobody" in [event["event"] for event in unseen["events"]]


def test_functions_are_listed_for_the_build_and_for_the_job(erin: Client, job: Filling) -> None:
    rows = pages(erin, f"builds/{job.of_id}/functions", 2)
    assert rows == pages(erin, f"builds/{job.build_id}/functions", 2)
    assert [(row["waits"], row["agent_label"]) for row in rows] == [(True, 1), (True, 0), (True, None)]
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


def test_an_edit_is_tried_beside_the_functions_test(erin: Client, job: Filling) -> None:
    row = get(erin, f"builds/{job.build_id}/functions")["items"][0]
    path = f"functions/{row['id']}/runs"
    asked = post(erin, path, {"code": "def other(x):\n    return x\n"}, 201)
    assert get(erin, f"{path}/{asked['id']}")["state"] == "waiting"
    assert post(erin, path, {"code": " "}, 422)["type"] == "urn:cosqa:bad-decision"


def test_functions_that_could_not_be_written_are_written_again(ada: Client, job: Filling) -> None:
    failed = Proposal.objects.filter(filling=job, state=Proposal.State.FAILED, number=1).count()
    assert post(ada, f"builds/{job.build_id}/functions/again", {}) == {"functions": failed}
