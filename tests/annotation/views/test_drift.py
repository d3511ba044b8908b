"""The drift check in the browser: ordered, watched, and resumed with a reason."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from annotation.models import AgentBill, Build, DriftCheck, DriftWatch
from annotation.models.builds import NANO
from tests import factories
from tests.annotation.views.test_builds import NEW, order

pytestmark = pytest.mark.django_db


def shifted(state: str = Build.State.PAUSED) -> Build:
    """A build whose first check after its baseline found a shift."""
    build = factories.opened(state=state)
    watch = DriftWatch.objects.create(build=build, seed=7, every=3, drawn=[1, 2, 3], most=2)
    done: dict[str, Any] = {"watch": watch, "finished_at": timezone.now()}
    DriftCheck.objects.create(number=0, is_baseline=True, settled=0, agreed=3, **done)
    found: dict[str, Any] = {"agreed": 1, "down": 2, "p_value": 0.0009, "level": 0.005, "shifted": True}
    DriftCheck.objects.create(number=1, is_baseline=False, settled=4, cost=NANO, **found, **done)
    AgentBill.objects.create(build=build, agent="drift_check", calls=9, spent=2 * NANO)
    return build


def text_of(client: Client, build: Build) -> str:
    html = client.get(reverse("build", args=[build.pk])).content.decode()
    return unescape(" ".join(strip_tags(html).replace("\xa0", " ").split()))


def test_the_page_shows_each_check_and_the_bill_apart(ada: Client) -> None:
    page = text_of(ada, shifted())
    assert "Drift check 9 calls, $2.00" in page
    assert "4 settled cases ! a shift 1 of 3 0 2 0 0.0009 $1.00" in page
    assert "0 settled cases · baseline 3 of 3 0 0 0 –" in page
    assert "3 pairs, drawn by seed 7, are asked again every 3 settled cases" in page
    assert "Below p = 0.005 it is a shift" in page


def test_a_build_without_one_says_nothing_of_it(ada: Client) -> None:
    assert "Drift check" not in text_of(ada, factories.opened())


def test_resuming_it_asks_why_first(ada: Client) -> None:
    build = shifted()
    url = reverse("build-control", args=[build.pk])
    assert f'href="{url}?action=resume"' in ada.get(reverse("build", args=[build.pk])).content.decode()
    assert "required" in ada.get(url, {"action": "resume"}).content.decode()
    ada.post(url, {"action": "resume", "note": " "})
    assert Build.objects.get(pk=build.pk).state == Build.State.PAUSED
    ada.post(url, {"action": "resume", "note": "the new one is better"})
    assert Build.objects.get(pk=build.pk).state == Build.State.RUNNING
    assert build.events.get(event="resume").note == "the new one is better"


def test_it_is_ordered_in_the_form_and_only_for_a_live_model(ada: Client) -> None:
    ada.post(NEW, order(drift_check="on"))
    build = Build.objects.get()
    assert build.provider != Build.Provider.LIVE
    assert not DriftWatch.objects.exists()
