"""Decisions where raters split, and precedents, over the API."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Adjudication, Enrolment, Study
from tests import factories, studies
from tests.annotation.studies.adjudication.test_decisions import condition, raters, said, study
from tests.calls import get, pages

__all__ = ["raters", "study"]  # fixtures
pytestmark = pytest.mark.django_db
SLIP = {"value": 1, "cause": "slip", "note": "a slip", "seen": 0, "precedent": True}


@pytest.fixture
def split(study: Study, raters: list[Enrolment]) -> Study:
    said(study, raters, 1, 1, 0, 0)
    return study


def send(client: Client, study: Study, **more: Any) -> Any:
    path = f"/api/studies/{study.pk}/pairs/1/conditions/{condition(study).pk}/decisions"
    return client.post(path, {**SLIP, **more}, content_type="application/json")


def decided_on(client: Client, study: Study, state: str) -> Any:
    return client.get(f"/api/studies/{study.pk}/decisions?state={state}").json()["items"]


def test_splits_come_by_pages_the_lowest_agreement_first(
    erin: Client, study: Study, raters: list[Enrolment]
) -> None:
    said(study, raters, 1, 1, 0, 0)
    said(study, raters, 1, 0, None, None, number=2)
    path = f"studies/{study.pk}/decisions"
    rows = pages(erin, path, 1)
    assert sorted(row["number"] for row in rows) == [1, 2]
    assert rows == get(erin, path)["items"]
    assert [row["agreement"] for row in rows] == sorted(row["agreement"] for row in rows)


def test_the_queue_and_a_decision(erin: Client, split: Study) -> None:
    waiting = decided_on(erin, split, "waiting")
    assert [(one["number"], one["votes"], one["decision"]) for one in waiting] == [(1, [1, 1, 0, 0], None)]

    made = send(erin, split)
    assert (made.status_code, made.json()["by"], made.json()["cause"]) == (201, "erin", "slip")
    assert decided_on(erin, split, "waiting") == []
    assert decided_on(erin, split, "decided")[0]["decision"]["id"] == made.json()["id"]
    found = erin.get("/api/precedents?q=slip").json()["items"]
    assert [(one["reason"], one["guidelines"]) for one in found] == [("a slip", "rules")]
    assert erin.get("/api/precedents?q=none+such").json()["items"] == []


def test_lines_are_the_reason_of_a_decision(erin: Client, split: Study) -> None:
    assert send(erin, split, lines="1-99").status_code == 422
    assert send(erin, split, lines="1-2").json()["lines"] == "1-2"
    decided = decided_on(erin, split, "decided")
    assert decided[0]["decision"]["lines"] == "1-2"


def test_who_was_faster_is_told(erin: Client, split: Study) -> None:
    first = send(erin, split).json()
    answer = send(erin, split, note="another")

    assert (answer.status_code, answer.json()["stored"]["id"]) == (409, first["id"])
    assert Adjudication.objects.count() == 1
    assert send(erin, split, note="another", seen=first["id"]).json()["supersedes"] == first["id"]


@pytest.mark.parametrize(
    "wrong", [{"value": 3}, {"cause": "weather"}, {"note": ""}, {"note": "  "}, {"more": 1}]
)
def test_what_is_no_decision(erin: Client, split: Study, wrong: dict[str, Any]) -> None:
    assert send(erin, split, **wrong).status_code == 422
    assert not Adjudication.objects.exists()


def test_raters_are_kept_out(split: Study, raters: list[Enrolment]) -> None:
    theirs = Client()
    theirs.force_login(User.objects.get(pk=raters[0].user_id))
    assert theirs.get(f"/api/studies/{split.pk}/decisions").status_code == 403
    answer = send(theirs, split)
    assert (answer.status_code, answer.json()["type"]) == (403, "urn:cosqa:may-not-adjudicate")


def test_what_is_not_there(erin: Client, split: Study) -> None:
    assert erin.get("/api/studies/999/decisions").status_code == 404
    path = f"/api/studies/{split.pk}/pairs/99/conditions/{condition(split).pk}/decisions"
    assert erin.post(path, SLIP, content_type="application/json").status_code == 404
    other = studies.study("other", pairs=[])
    path = f"/api/studies/{split.pk}/pairs/1/conditions/{condition(other).pk}/decisions"
    assert erin.post(path, SLIP, content_type="application/json").status_code == 404


def test_readers_have_no_part_in_it(split: Study) -> None:
    reader = Client()
    reader.force_login(factories.ray())
    assert reader.get(f"/api/studies/{split.pk}/decisions").status_code == 403


def test_raters_tests_are_run_beside_the_function(erin: Client, split: Study) -> None:
    path = f"/api/studies/{split.pk}/pairs/1/conditions/{condition(split).pk}/tests"
    told = erin.post(path, {}, content_type="application/json")
    assert (told.status_code, len(told.json()["functions"]), told.json()["tests"]) == (201, 1, [])
