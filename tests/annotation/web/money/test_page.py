"""Caps as pages show them."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.builds.limits import budget
from annotation.models import Build, ProjectTally, Tally
from annotation.models.builds.build import NANO
from tests import factories

pytestmark = pytest.mark.django_db


def resumed(ada: Client, build: Build, reason: str) -> str:
    """What the page says after a build that paused for `reason` was resumed."""
    Build.objects.filter(pk=build.pk).update(state=Build.State.PAUSED, reason=reason)
    where = reverse("build-control", args=[build.pk])
    return ada.post(where, {"action": "resume"}, follow=True).content.decode()


def test_who_resumes_a_build_without_money_is_told_what_is_left_and_where_the_cap_is(ada: Client) -> None:
    build = factories.opened(cap=NANO // 10)
    Tally.objects.update(spent=76_000_000)  # of 0.10 dollars 0.024 are left
    page = resumed(ada, build, f"{budget.USED_UP}: $0.024 is left, and the next call may cost $0.025")
    assert "with $0.024000 left" in page and "Resumed." not in page
    assert f'<a href="{reverse("build-cap", args=[build.pk])}">raise the cap</a>' in page


def test_the_cap_of_all_builds_is_named_where_it_is_that_one(ada: Client) -> None:
    build = factories.opened(cap=NANO)
    ProjectTally.objects.update_or_create(pk=ProjectTally.ONLY, defaults={"cap": NANO, "spent": NANO})
    page = resumed(ada, build, budget.project_used_up(NANO))
    assert "with $0.000000 left" in page
    assert f'<a href="{reverse("project-cap")}">raise the cap</a>' in page


def test_a_build_that_a_person_paused_is_resumed_without_a_word_of_money(ada: Client) -> None:
    page = resumed(ada, factories.opened(cap=NANO), "")
    assert "Resumed." in page and "raise the cap" not in page
