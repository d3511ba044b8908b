"""What people outside were told is shown where the build is, and on the dashboard where it failed."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from annotation.builds.control import spending_caps
from annotation.jobs import delivery_channels, notifications
from annotation.models import Build, Delivery, Notice, ProjectTally
from annotation.models.builds.build import NANO
from tests import factories

pytestmark = pytest.mark.django_db


def text_of(client: Client, path: str) -> str:
    return unescape(" ".join(strip_tags(client.get(path).content.decode()).replace("\xa0", " ").split()))


@pytest.fixture
def failing(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Build:
    """A paused build of which the mail was sent and the command failed for good."""

    def fails(document: object) -> None:
        raise delivery_channels.NotSent("exit status 3: <b>no route</b>")

    settings.NOTIFY_EMAIL, settings.NOTIFY_COMMAND = ["ada@example.org"], ["hook"]
    monkeypatch.setattr(delivery_channels, "run_notification_command", fails)
    build = factories.opened(state=Build.State.PAUSED)
    for _ in range(3):
        notifications.flush_notifications()
        Delivery.objects.update(due_at=timezone.now())
    return build


def test_the_builds_page_says_what_was_sent_and_what_was_not(ada: Client, failing: Build) -> None:
    page = text_of(ada, reverse("build", args=[failing.pk]))
    assert "Notifications Stopped for a person" in page
    assert "e-mail: ✓ sent" in page
    assert "command: ✗ not sent after 3 tries: exit status 3: <b>no route</b>" in page
    assert "<b>no route" not in ada.get(reverse("build", args=[failing.pk])).content.decode()


def test_the_dashboard_says_who_is_told_and_what_did_not_get_out(ada: Client, failing: Build) -> None:
    page = text_of(ada, reverse("dashboard"))
    assert "By e-mail and command, to ada@example.org." in page
    assert "The last that did not get out (command): exit status 3" in page


def test_the_dashboard_says_that_nobody_is_told(ada: Client) -> None:
    assert "Nobody is notified: COSQA_NOTIFY_EMAIL" in text_of(ada, reverse("dashboard"))


@pytest.mark.parametrize("page", ["dashboard", "project-cap"])
def test_the_projects_cap_is_told_where_an_admin_looks_until_it_is_raised(ada: Client, page: str) -> None:
    ProjectTally.objects.now()
    ProjectTally.objects.update(cap=NANO, spent=NANO // 2)
    path = reverse(page)
    assert "that all live builds share" not in text_of(ada, path)
    ProjectTally.objects.update(spent=8 * NANO // 10)
    told = text_of(ada, path)
    assert "$0.8000 of the $1.0000 that all live builds share are spent." in told
    assert "Live builds continue until nothing is left" in told and "Raise the cap before that" in told
    assert "Noticed" not in told, "no worker has looked"
    ProjectTally.objects.update(spent=NANO)
    notifications.record_new_episodes()
    Notice.objects.update(at=timezone.now() - timedelta(hours=3))
    told = text_of(ada, path)
    assert "builds wait until an admin raises the cap" in told
    assert "Noticed 3 hours ago" in told
    assert "No live build starts another call." in told and "resume the builds that stopped at it" in told
    spending_caps.change_project_cap(Decimal(10), factories.ada(), "more")
    assert "that all live builds share" not in text_of(ada, path)


def test_it_says_whether_the_notice_got_out(ada: Client, failing: Build) -> None:
    ProjectTally.objects.now()
    ProjectTally.objects.update(cap=NANO, spent=NANO)
    notifications.flush_notifications()
    told = text_of(ada, reverse("dashboard"))
    assert "E-mail: ✓ sent" in told and "Command: … is sent soon" in told
