"""Who is told what, once an episode; a way that fails is noted and given up, and no build notices."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.utils import timezone

from annotation.builds.control import spending_caps
from annotation.builds.control.pause_resume import Action, control_build
from annotation.builds.limits import budget, canary, circuit_breaker
from annotation.builds.pipeline.advance import Tools, pause_whole_build
from annotation.jobs import delivery_channels, heartbeat, notifications, worker
from annotation.llm import LLMError
from annotation.models import Build, Case, Delivery, Notice, ProjectTally, Pulse, Tally
from annotation.stages import Stage
from retrieval.models import Mining
from tests import factories
from tests.annotation.builds.results.test_canary_statistics import with_canary
from tests.fakes import FakeLLM

pytestmark = pytest.mark.django_db
Make = Callable[..., tuple[Tools, FakeLLM]]
Kind = Notice.Kind
YES = {"verdict": 1, "explanation": "plain to see"}


@pytest.fixture(autouse=True)
def told(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Both ways are configured; what the command got."""
    got: list[dict[str, Any]] = []
    settings.NOTIFY_EMAIL, settings.NOTIFY_COMMAND = ["ada@example.org"], ["hook"]
    monkeypatch.setattr(delivery_channels, "run_notification_command", got.append)
    monkeypatch.setattr(heartbeat, "_signs", {})
    return got


def kinds() -> list[str]:
    return list(Notice.objects.order_by("pk").values_list("kind", flat=True))


def spent(build: Build, of_cap: float) -> None:
    Tally.objects.filter(build=build).update(cap=10**9, spent=int(of_cap * 10**9))


def test_a_build_that_ends_is_told_once_by_mail_and_command(
    told: list[dict[str, Any]], tools_with: Make, settings: Any
) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://workbench.example"]
    tools, _ = tools_with(YES)
    build = factories.opened("autumn")
    for queue in ("llm", "llm", "llm", "control"):
        worker.drain_queue(queue, tools)
    for _ in range(4):
        worker.drain_queue("notices", tools)
    assert kinds() == [Kind.FINISHED]
    [sent] = mail.outbox
    assert (sent.subject, sent.to) == ("[CoSQA Workbench] autumn: build finished", ["ada@example.org"])
    assert "The build is done." in sent.body
    assert f"https://workbench.example/builds/{build.pk}/" in sent.body
    assert "9 of 9 cases, 0 abandoned" in sent.body
    [document] = told
    assert (document["event"], document["build"]["name"], document["settled"]) == ("finished", "autumn", 9)
    assert set(Delivery.objects.values_list("state", "tries")) == {("sent", 1)}


def test_every_stop_by_the_workbench_or_a_person_is_an_episode_of_its_own() -> None:
    build = factories.opened()
    case = factories.cases(build)[0]
    pause_whole_build(case, "a protection is missing")
    assert [notifications.record_new_episodes() for _ in range(3)] == [1, 0, 0]
    control_build(build, Action.RESUME)
    assert notifications.record_new_episodes() == 0
    control_build(build, Action.PAUSE, factories.ada())
    assert [notifications.record_new_episodes() for _ in range(2)] == [1, 0]
    assert kinds() == [Kind.STOPPED, Kind.STOPPED]
    assert list(Notice.objects.values_list("text", flat=True)) == [
        "The build was paused.",
        "a protection is missing",
    ]


def test_waiting_for_the_provider_and_waiting_for_a_person_are_told_apart() -> None:
    build = factories.opened()
    for _ in range(circuit_breaker.RUN):
        circuit_breaker.record_provider_error(build, LLMError("HTTP 529", retryable=True))
    assert [notifications.record_new_episodes() for _ in range(2)] == [1, 0]
    pause_whole_build(factories.cases(build)[0], "the key was revoked.", Build.State.WAITING)
    assert [notifications.record_new_episodes() for _ in range(2)] == [1, 0]
    assert kinds() == [Kind.WAITING, Kind.STOPPED]
    assert "tries again by itself" in Notice.objects.get(kind=Kind.WAITING).text
    assert "the key was revoked. Fix this" in Notice.objects.get(kind=Kind.STOPPED).text


def test_a_canary_that_is_done_is_told_and_told_again_after_a_retry() -> None:
    build = with_canary()
    factories.settled(factories.cases(build)[8], 1)
    assert canary.stop_at_canary(build)
    assert [notifications.record_new_episodes() for _ in range(2)] == [1, 0]
    control_build(build, Action.RETRY)
    for case in Case.objects.filter(build=build, stage=Stage.SCREENING).select_related("build__tally"):
        factories.abandoned(case)
    for case in Case.objects.filter(build=build, stage=Stage.WRITING_TEST).select_related("build__tally"):
        factories.abandoned(case)
    assert canary.stop_at_canary(Build.objects.select_related("tally").get(pk=build.pk))
    assert notifications.record_new_episodes() == 1
    assert kinds() == [Kind.CANARY, Kind.CANARY]


def test_the_cap_is_told_at_80_percent_and_when_it_is_used_up_once_for_each_cap() -> None:
    build = factories.opened()
    spent(build, 0.79)
    assert notifications.record_new_episodes() == 0
    spent(build, 0.8)
    assert [notifications.record_new_episodes() for _ in range(2)] == [1, 0]
    pause_whole_build(factories.cases(build)[0], f"{budget.USED_UP}: the next call may cost 0.3 dollars")
    assert [notifications.record_new_episodes() for _ in range(2)] == [1, 0]
    assert kinds() == [Kind.NEARLY_SPENT, Kind.SPENT]
    Tally.objects.update(cap=10**10)
    control_build(build, Action.RESUME)
    assert notifications.record_new_episodes() == 0
    Tally.objects.update(spent=9 * 10**9)
    assert notifications.record_new_episodes() == 1
    assert kinds()[-1] == Kind.NEARLY_SPENT


def project(spent: float, cap: float = 1.0) -> None:
    ProjectTally.objects.now()
    ProjectTally.objects.update(cap=int(cap * 10**9), spent=int(spent * 10**9))


def test_the_projects_cap_is_told_at_80_percent_and_when_it_is_used_up_once_each_time_it_is_set(
    told: list[dict[str, Any]],
) -> None:
    project(0.79)
    assert notifications.record_new_episodes() == 0
    project(0.8)
    assert [notifications.record_new_episodes() for _ in range(3)] == [1, 0, 0]
    project(1.0)
    assert [notifications.record_new_episodes() for _ in range(3)] == [1, 0, 0]
    assert kinds() == [Kind.PROJECT_NEARLY_SPENT, Kind.PROJECT_SPENT]
    notifications.flush_notifications()
    assert [mail_.subject for mail_ in mail.outbox] == [
        "[CoSQA Workbench] 80 % of the project's cap is spent",
        "[CoSQA Workbench] the project's cap is used up",
    ]
    assert "$0.8000 of the $1.0000 that all live builds share" in mail.outbox[0].body
    assert "raises the cap on the dashboard" in mail.outbox[1].body
    assert [(one["event"], one["spent"], one["cap"]) for one in told] == [("all_80", 1, 1), ("all_100", 1, 1)]
    spending_caps.change_project_cap(Decimal(10), factories.ada(), "more")
    assert notifications.record_new_episodes() == 0
    project(9, 10)
    assert [notifications.record_new_episodes() for _ in range(2)] == [1, 0]
    assert kinds()[-1] == Kind.PROJECT_NEARLY_SPENT


def test_a_build_that_stopped_at_the_projects_cap_says_that_it_is_used_up_and_not_after_it_was_raised() -> (
    None
):
    project(0.9)
    build = factories.opened(provider=Build.Provider.LIVE)
    with pytest.raises(budget.OverBudget) as refused:
        budget.refuse_project(2 * 10**8)
    pause_whole_build(factories.cases(build)[0], str(refused.value))
    notifications.record_new_episodes()
    assert kinds().count(Kind.PROJECT_SPENT) == 1
    spending_caps.change_project_cap(Decimal(100), factories.ada(), "more")
    project(90, 100)
    notifications.record_new_episodes()
    assert kinds().count(Kind.PROJECT_SPENT) == 1
    assert kinds()[-1] == Kind.PROJECT_NEARLY_SPENT


def test_without_a_cap_of_the_project_nothing_is_told_of_it() -> None:
    ProjectTally.objects.now()
    ProjectTally.objects.update(spent=10**12)
    assert notifications.record_new_episodes() == 0


def test_what_ended_long_ago_is_no_news() -> None:
    build = factories.opened(state=Build.State.DONE)
    Build.objects.filter(pk=build.pk).update(finished_at=timezone.now() - timedelta(days=2))
    assert notifications.record_new_episodes() == 0


def test_without_a_way_episodes_are_noted_and_nothing_is_sent_later(settings: Any) -> None:
    settings.NOTIFY_EMAIL = settings.NOTIFY_COMMAND = []
    factories.opened(state=Build.State.PAUSED)
    assert notifications.record_new_episodes() == 1
    settings.NOTIFY_EMAIL = ["ada@example.org"]
    notifications.flush_notifications()
    assert (mail.outbox, Delivery.objects.count()) == ([], 0)


@pytest.mark.django_db(transaction=True)
def test_however_many_workers_look_and_send_everybody_is_told_once(told: list[dict[str, Any]]) -> None:
    for number in range(3):
        factories.opened(f"build {number}", state=Build.State.PAUSED)

    def work() -> None:
        for _ in range(5):
            notifications.flush_notifications()
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    notifications.flush_notifications()
    assert sorted(one["build"]["name"] for one in told) == ["build 0", "build 1", "build 2"]
    assert (len(mail.outbox), Notice.objects.count(), Delivery.objects.count()) == (3, 3, 6)
    assert set(Delivery.objects.values_list("state", "tries")) == {("sent", 1)}


def test_a_way_that_fails_is_tried_three_times_then_shown_and_the_other_is_not_kept_from_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(document: object) -> None:
        raise delivery_channels.NotSent("exit status 3: no route")

    monkeypatch.setattr(delivery_channels, "run_notification_command", fails)
    factories.opened(state=Build.State.PAUSED)
    notifications.flush_notifications()
    delivery = Delivery.objects.get(channel="command")
    assert (delivery.state, delivery.tries) == ("waiting", 1)
    assert delivery.due_at > timezone.now()
    for _ in range(5):
        Delivery.objects.update(due_at=timezone.now())
        notifications.flush_notifications()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.tries, delivery.error) == ("failed", 3, "exit status 3: no route")
    assert Delivery.objects.get(channel="mail").state == "sent"
    assert len(mail.outbox) == 1
    assert Build.objects.get().state == Build.State.PAUSED


def test_a_try_whose_worker_died_is_not_repeated(told: list[dict[str, Any]], settings: Any) -> None:
    settings.NOTIFY_EMAIL = []
    factories.opened(state=Build.State.PAUSED)
    notifications.record_new_episodes()
    delivery = Delivery.objects.get()
    assert notifications.claim_delivery(delivery, timezone.now())
    assert not notifications.claim_delivery(delivery, timezone.now())
    notifications.flush_notifications()
    assert told == []
    Delivery.objects.update(begun_at=timezone.now() - notifications.LOST - timedelta(seconds=1))
    notifications.flush_notifications()
    delivery.refresh_from_db()
    assert (told, delivery.state) == ([], "lost")


def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], datetime]:
    """Sets the time to so many seconds after the beginning."""
    began = timezone.now()

    def at(seconds: int) -> datetime:
        now = began + timedelta(seconds=seconds)
        monkeypatch.setattr(timezone, "now", lambda: now)
        monkeypatch.setattr(heartbeat, "_signs", {})
        return now

    return at


def watch(at: Callable[[int], datetime], start: int, end: int) -> list[str]:
    """Look every 30 seconds; the kinds that are new."""
    before = Notice.objects.count()
    for seconds in range(start, end, 30):
        at(seconds)
        notifications.record_new_episodes()
    return kinds()[before:]


def test_work_without_a_worker_for_five_minutes_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    at = clock(monkeypatch)
    build = factories.opened()
    assert watch(at, 0, 300) == []
    assert watch(at, 300, 900) == [Kind.NO_WORKER]
    notice = Notice.objects.get()
    assert notice.build == build
    assert "No worker of the queue llm has been heard of since" in notice.text


def test_a_worker_that_looks_or_work_that_is_done_ends_the_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    at = clock(monkeypatch)
    factories.opened()
    assert watch(at, 0, 360) == [Kind.NO_WORKER]
    heartbeat.record_heartbeat("llm")
    assert watch(at, 360, 600) == []
    Build.objects.update(state=Build.State.CANCELLED)
    assert watch(at, 600, 1200) == []
    Build.objects.update(state=Build.State.RUNNING)
    assert watch(at, 1200, 1470) == []
    assert watch(at, 1470, 1800) == [Kind.NO_WORKER]


def test_workers_that_look_keep_it_quiet_also_where_there_is_more_than_they_can_do(
    monkeypatch: pytest.MonkeyPatch, tools_with: Make
) -> None:
    at = clock(monkeypatch)
    tools, _ = tools_with(LLMError("later", retryable=True))
    factories.opened()
    for minute in range(8):
        at(60 * minute)
        worker.drain_queue("llm", tools)
        notifications.record_new_episodes()
    assert Kind.NO_WORKER not in kinds()


def test_a_machine_that_was_off_does_not_cry_at_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    at = clock(monkeypatch)
    factories.opened()
    assert watch(at, 0, 120) == []
    assert watch(at, 36_000, 36_200) == []


def test_a_mining_that_nobody_takes_up_is_work_and_one_that_is_at_it_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at = clock(monkeypatch)
    factories.launched()
    assert watch(at, 0, 600) == [Kind.NO_WORKER]
    Notice.objects.all().delete()
    Pulse.objects.all().delete()
    Mining.objects.update(state=Mining.State.RUNNING, lease_until=at(3000))
    assert watch(at, 600, 1200) == []


def test_a_test_goes_everywhere_and_leaves_nothing(told: list[dict[str, Any]]) -> None:
    assert notifications.send_test_notifications() == {"e-mail": "", "command": ""}
    assert told[0]["event"] == "test"
    assert mail.outbox[0].subject == "[CoSQA Workbench] a test"
    assert not Notice.objects.exists()
