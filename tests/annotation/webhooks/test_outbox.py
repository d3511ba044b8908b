"""Which events are written, in the transaction of what they tell, and what a body never has."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import transaction
from pytest_django import Settings

from annotation.builds.control.pause_resume import Action, control_build
from annotation.builds.limits import awaited_replies, canary, circuit_breaker
from annotation.jobs import worker
from annotation.models import Build, Case, LLMCall, WebhookDelivery
from annotation.studies.plan.control import Action as StudyAction
from annotation.studies.plan.control import perform_study_action
from annotation.webhooks import outbox
from tests import factories, studies
from tests.annotation.builds.results.test_canary_statistics import with_canary

pytestmark = pytest.mark.django_db


def told() -> list[tuple[str, dict[str, Any]]]:
    """The events that were written, the first of them first, with their data."""
    rows = WebhookDelivery.objects.order_by("pk")
    return [(row.event, json.loads(row.body)["data"]) for row in rows]


@pytest.fixture
def build() -> Build:
    factories.webhook()
    return factories.opened("autumn")


def test_a_build_that_is_done_is_told_with_counts_alone(build: Build, settings: Settings) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://workbench.example"]
    for case, label in zip(factories.cases(build), (1, 0, 1), strict=False):
        factories.settled(case, label, "a secret explanation")
    worker.close_build(build, Build.State.DONE)
    [row] = WebhookDelivery.objects.all()
    body = json.loads(row.body)
    assert body.keys() == {"type", "timestamp", "version", "id", "data"}
    assert (body["type"], body["version"], body["id"]) == ("build.done", 1, row.message)
    assert body["data"]["build"] == {
        "id": build.pk,
        "name": "autumn",
        "address": f"https://workbench.example/builds/{build.pk}/",
        "state": "done",
        "waits_for": "",
        "cases": 9,  # 3 queries × 3 functions
        "settled": 3,
        "abandoned": 0,
    }
    texts = [*factories.QUERIES, *factories.SNIPPETS, "explanation", "match"]
    assert not [text for text in texts if text in row.body]


def test_a_build_that_failed_needs_a_person(build: Build) -> None:
    worker.close_build(build, Build.State.FAILED, "mining failed: a query")
    [(event, data)] = told()
    assert (event, data["build"]["state"]) == ("build.needs_person", "failed")
    assert "query" not in json.dumps(data)


def test_each_way_to_stop_is_told_once(build: Build) -> None:
    control_build(build, Action.PAUSE)
    control_build(build, Action.RESUME)
    circuit_breaker.stop_build_for_person(build, "a reply with a query", Build.State.WAITING)
    circuit_breaker.stop_build_for_person(build, "once more", Build.State.WAITING)
    control_build(build, Action.RESUME)
    circuit_breaker.stop_build_for_person(build, "the cap is used up")
    control_build(build, Action.CANCEL)
    assert [(event, data["build"]["state"]) for event, data in told()] == [
        ("build.paused", "paused"),
        ("build.needs_person", "waiting"),
        ("build.needs_person", "paused"),
    ]


def test_a_canary_that_is_done_needs_a_person() -> None:
    factories.webhook()
    build = with_canary()
    factories.settled(factories.cases(build)[8], 1)
    assert canary.stop_at_canary(build)
    [(event, data)] = told()
    assert (event, data["build"]["state"]) == ("build.needs_person", "canary")


def test_a_build_that_waits_for_replies_needs_a_person(build: Build) -> None:
    assert build.provider == Build.Provider.EXCHANGE
    for case in factories.cases(build):
        call = factories.llm_call(case, "screener", {}, status=LLMCall.Status.WAITING)
        Case.objects.filter(pk=case.pk).update(waiting_for=call)
    assert awaited_replies.hold_for_replies(build)
    assert not awaited_replies.hold_for_replies(build)
    [(event, data)] = told()
    assert (event, data["build"]["waits_for"]) == ("build.needs_person", "replies")


def test_an_outage_that_passes_by_itself_is_not_told(build: Build) -> None:
    circuit_breaker.hold_build_for_outage(
        build, circuit_breaker.SOURCES["llm"], "away", circuit_breaker.FIRST_PAUSE
    )
    build.refresh_from_db()
    assert build.state == Build.State.WAITING
    assert told() == []


def test_a_study_that_is_closed_is_told_without_labels() -> None:
    factories.webhook()
    study = studies.study()
    perform_study_action(study, StudyAction.PAUSE, factories.ada())
    perform_study_action(study, StudyAction.CLOSE, factories.ada(), "enough")
    [(event, data)] = told()
    assert event == "study.done"
    assert data["study"].keys() == {"id", "name", "address", "state", "pairs", "raters"}
    assert (data["study"]["state"], data["study"]["pairs"]) == (
        "closed",
        study.pairs.filter(planted="").count(),
    )


def test_what_is_rolled_back_is_not_told(build: Build) -> None:
    with transaction.atomic():
        worker.close_build(build, Build.State.DONE)
        assert len(told()) == 1
        transaction.set_rollback(True)
    assert told() == []
    build.refresh_from_db()
    assert build.state == Build.State.RUNNING


def test_where_the_event_cannot_be_written_nothing_changes(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(outbox, "write_delivery", killed)
    for change in (
        lambda: worker.close_build(build, Build.State.DONE),
        lambda: circuit_breaker.stop_build_for_person(build, "why"),
        lambda: control_build(build, Action.PAUSE),
    ):
        with pytest.raises(RuntimeError):
            change()
        build.refresh_from_db()
        assert build.state == Build.State.RUNNING


def test_only_webhooks_that_are_on_and_ask_for_it_are_told(build: Build) -> None:
    factories.webhook("off", is_on=False)
    factories.webhook("studies", events=["study.done"])
    worker.close_build(build, Build.State.DONE)
    assert [row.webhook.name for row in WebhookDelivery.objects.select_related("webhook")] == ["chat"]


def test_what_comes_when_too_many_wait_is_kept_as_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "MOST_WAITING", 2)
    webhook = factories.webhook()
    rows = [factories.webhook_delivery(webhook) for _ in range(3)]
    assert [row.state for row in rows] == ["waiting", "waiting", "failed"]
    assert rows[2].error == "2 others waited."
    assert len({row.message for row in rows}) == 3
