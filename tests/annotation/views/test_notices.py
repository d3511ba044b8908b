"""What people outside were told is shown where the build is, and on the dashboard where it failed."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from annotation import notifying, sending
from annotation.models import Build, Delivery
from tests import factories

pytestmark = pytest.mark.django_db


def text_of(client: Client, path: str) -> str:
    return unescape(" ".join(strip_tags(client.get(path).content.decode()).replace("\xa0", " ").split()))


@pytest.fixture
def failing(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Build:
    """A paused build of which the mail was sent and the command failed for good."""

    def fails(document: object) -> None:
        raise sending.NotSent("exit status 3: <b>no route</b>")

    settings.NOTIFY_EMAIL, settings.NOTIFY_COMMAND = ["ada@example.org"], ["hook"]
    monkeypatch.setattr(sending, "command", fails)
    build = factories.opened(state=Build.State.PAUSED)
    for _ in range(3):
        notifying.flush()
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
