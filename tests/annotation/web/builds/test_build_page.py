"""The page of one build: what it shows, how it stays up to date, and its buttons."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.builds.limits.budget import USED_UP
from annotation.models import Build, BuildEvent
from retrieval.models import Mining
from tests import factories
from tests.annotation.web.builds.test_launch import text_of

pytestmark = pytest.mark.django_db


def test_page_shows_the_funnel_in_words_and_numbers(ada: Client) -> None:
    build = factories.opened(cap=1_000_000_000)
    factories.examined(factories.cases(build)[0], 1)
    page = ada.get(reverse("build", args=[build.pk])).content.decode()
    assert "1 of 9 cases finished" in page
    assert 'data-funnel="8 0 0 0 0 0 0 1 0 "' in page
    assert "1 of 1 test program ran" in page
    assert "of $1.00" in page


def test_page_of_a_build_that_is_mined_shows_the_mining(ada: Client) -> None:
    build = factories.launched()
    page = reverse("build", args=[build.pk])
    assert "The mining waits for a worker" in ada.get(page).content.decode()
    Mining.objects.update(state=Mining.State.RUNNING, phase="encoding snippets", done=3, total=12)
    content = ada.get(page).content.decode()
    assert "Mining: encoding snippets" in content
    assert "3 of 12" in content


def test_recorded_replies_are_told_plainly(ada: Client) -> None:
    build = factories.opened(provider=Build.Provider.RECORDED)
    assert "Recorded replies." in ada.get(reverse("build", args=[build.pk])).content.decode()


def test_waiting_requests_lead_to_their_download_and_to_the_upload(ada: Client) -> None:
    build = factories.opened("autumn")
    case = factories.cases(build)[0]
    case.put_back(waiting=factories.llm_call(case, "screener", {}, status="waiting"))
    page = ada.get(reverse("build", args=[build.pk])).content.decode()
    assert "Waiting for 1 reply." in page
    assert reverse("build-requests", args=[build.pk]) in page
    assert reverse("build-replies", args=[build.pk]) in page


def test_a_build_that_waits_for_its_provider_says_since_when_why_and_what_happens_next(ada: Client) -> None:
    since, soon = timezone.now() - timedelta(minutes=12), timezone.now() + timedelta(minutes=4, seconds=30)
    columns: dict[str, Any] = {
        "state": Build.State.WAITING,
        "reason": "the provider is overloaded",
        "waiting_since": since,
    }
    build = factories.opened(**columns, next_probe_at=soon, probe_count=7)
    page = text_of(ada, build)
    assert "the provider is overloaded" in page
    assert "The wait began 12 minutes ago; the provider was tried 7 times since, next try" in page
    assert "4 minutes from now. The build continues by itself" in page
    Build.objects.filter(pk=build.pk).update(waits_for=Build.WaitsFor.SANDBOX)
    page = text_of(ada, build)
    assert "waiting for the sandbox" in page and "the sandbox was tried 7 times since" in page
    Build.objects.filter(pk=build.pk).update(next_probe_at=None)
    assert "fix this, then resume the build" in text_of(ada, build)


def test_polling_gets_the_fragment_once_and_then_304_until_something_changes(ada: Client) -> None:
    build = factories.opened()
    Build.objects.update(state=Build.State.PAUSED)  # a running build ages with the clock
    address = reverse("build-progress", args=[build.pk])
    first = ada.get(address)
    assert first.status_code == 200
    assert "<html" not in first.content.decode()
    seen = {"If-None-Match": first["ETag"]}
    assert ada.get(address, headers=seen).status_code == 304
    factories.settled(factories.cases(build)[0], 1)
    again = ada.get(address, headers=seen)
    assert (again.status_code, "1 of 9 cases finished" in again.content.decode()) == (200, True)


def test_fragment_carries_the_version_of_its_entity_tag(ada: Client) -> None:
    build = factories.opened()
    Build.objects.update(state=Build.State.PAUSED)
    answer = ada.get(reverse("build-progress", args=[build.pk]))
    assert f"data-version={answer['ETag']}" in answer.content.decode()


def test_a_build_that_is_not_there_is_404(ada: Client) -> None:
    assert ada.get("/builds/9/").status_code == 404
    assert ada.get("/builds/9/progress/").status_code == 404


def test_pausing_and_resuming_is_recorded_with_who_did_it(ada: Client) -> None:
    build = factories.opened()
    control = reverse("build-control", args=[build.pk])
    ada.post(control, {"action": "pause"})
    build.refresh_from_db()
    assert build.state == Build.State.PAUSED
    ada.post(control, {"action": "resume"})
    build.refresh_from_db()
    assert build.state == Build.State.RUNNING
    events = BuildEvent.objects.order_by("id").values_list("event", "user__username")
    assert list(events) == [("launched", "ada"), ("pause", "ada"), ("resume", "ada")]


def test_cancelling_is_asked_once_more_and_keeps_the_reason(ada: Client) -> None:
    build = factories.opened()
    control = reverse("build-control", args=[build.pk])
    assert "resumed" in ada.get(control, {"action": "cancel"}).content.decode()
    build.refresh_from_db()
    assert build.state == Build.State.RUNNING
    ada.post(control, {"action": "cancel", "note": "wrong model"})
    build.refresh_from_db()
    assert build.state == Build.State.CANCELLED
    assert BuildEvent.objects.filter(event="cancel", note="wrong model").exists()


def test_what_the_state_forbids_is_said_on_the_page(ada: Client) -> None:
    build = factories.opened()
    Build.objects.update(state=Build.State.DONE)
    page = ada.post(reverse("build-control", args=[build.pk]), {"action": "pause"}, follow=True)
    assert "be paused now" in page.content.decode()


def test_an_unknown_action_is_a_bad_request(ada: Client) -> None:
    build = factories.opened()
    assert ada.post(reverse("build-control", args=[build.pk]), {"action": "explode"}).status_code == 400


@pytest.mark.parametrize(
    ("state", "shown"),
    [("running", ["pause", "cancel"]), ("paused", ["resume", "cancel"]), ("done", []), ("cancelled", [])],
)
def test_buttons_are_those_that_the_state_allows(ada: Client, state: str, shown: list[str]) -> None:
    build = factories.opened()
    Build.objects.update(state=state)
    page = ada.get(reverse("build", args=[build.pk])).content.decode()
    assert [name for name in ("pause", "resume", "cancel") if f'id="do-{name}"' in page] == shown


def test_hostile_words_of_a_model_are_shown_as_text(ada: Client) -> None:
    build = factories.opened("<script>alert(1)</script>")
    factories.abandoned(factories.cases(build)[0], "<img src=x onerror=alert(1)>")
    for name in ("build", "build-abandoned"):
        page = ada.get(reverse(name, args=[build.pk])).content.decode()
        assert "<img src=x" not in page
        assert "<script>alert" not in page


@pytest.mark.parametrize(
    "name", ["dashboard", "browse", "build", "browse-build", "build-corpus", "build-abandoned", "build-cases"]
)
def test_a_name_that_turns_the_reading_direction_is_seen_through(ada: Client, name: str) -> None:
    build = factories.opened("\u202elive")
    where = [build.pk] if name not in {"dashboard", "browse"} else []
    page = ada.get(reverse(name, args=where)).content.decode()
    assert "\u202e" not in page
    assert "U+202E" in page


def test_a_build_that_stopped_at_its_cap_says_so_in_its_budget_and_leads_to_the_cap(ada: Client) -> None:
    build = factories.opened(cap=100_000_000)
    build.tally.change(spent=76_000_000)  # 76 % of it: the next call may cost more than the rest
    address = reverse("build", args=[build.pk])
    assert "less than 80 % is used" in ada.get(address).content.decode()
    reason = f"{USED_UP}: $0.024000 is left, and the next call may cost $0.025170"
    Build.objects.filter(pk=build.pk).update(state=Build.State.PAUSED, reason=reason)
    page = ada.get(address).content.decode()
    assert "too little is left for the next call" in page and "less than 80 %" not in page
    assert f'<a href="{reverse("build-cap", args=[build.pk])}">Change the cap</a>' in page


def test_what_could_not_be_judged_comes_before_charts_and_figures(ada: Client) -> None:
    build = factories.opened()
    factories.abandoned(factories.cases(build)[0])
    factories.examined(factories.cases(build)[1], 1)
    page = ada.get(reverse("build", args=[build.pk])).content.decode()
    headings = [page.index(f'id="{name}-heading"') for name in ("state", "abandoned", "money", "history")]
    assert headings == sorted(headings)
