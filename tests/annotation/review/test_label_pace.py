"""A person's own figures: counts that end with a day and a week, pace, and agreement of later labels."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.accounts.roles import Role
from annotation.models import Build, Case, Review
from annotation.review import undo_latest_label
from annotation.review.label_pace import LabelPace, measure_label_pace
from tests import factories
from tests.annotation.models.reviews.test_contradictions import say

pytestmark = pytest.mark.django_db


@pytest.fixture
def cases() -> list[Case]:
    return [factories.settled(case, 1) for case in factories.cases(factories.opened())[:4]]


def pace() -> LabelPace:
    return measure_label_pace(factories.erin(), Build.objects.all())


def test_who_labelled_nothing_has_no_pace(cases: list[Case]) -> None:
    assert pace() == LabelPace(0, 0, None, 0, 0)


def test_labels_are_counted_by_day_and_week_and_undone_ones_are_not(cases: list[Case]) -> None:
    noon = timezone.localtime().replace(hour=12)
    for case, days in zip(cases[:3], (0, 3, 8), strict=True):
        say(factories.erin(), case, 1)
        Review.objects.filter(case=case).update(created_at=noon - timedelta(days=days))
    say(factories.erin(), cases[3], 1)
    undo_latest_label(factories.erin(), cases[3], 1)
    found = measure_label_pace(factories.erin(), Build.objects.all(), noon + timedelta(minutes=1))
    assert (found.today, found.week) == (1, 2)


def test_the_pace_is_of_active_time(cases: list[Case]) -> None:
    for case, seconds in zip(cases, (30, 60, 0, 0), strict=True):
        say(factories.erin(), case, 1)
        Review.objects.filter(case=case).update(seconds=seconds)
    assert pace().per_hour == 80  # 3600 / 45: nobody measured the other two


def test_only_later_labels_of_others_on_pairs_of_ones_own_are_compared(cases: list[Case]) -> None:
    eve, erin = factories.person("eve", Role.EXPERT), factories.erin()
    say(eve, cases[0], 1)  # earlier than Erin's
    for case in cases[:3]:
        say(erin, case, 1)
    say(eve, cases[1], 1)
    say(eve, cases[2], 0)
    say(eve, cases[3], 1)  # Erin has no label here
    assert (pace().agreed, pace().compared) == (1, 2)


def test_of_builds_that_are_closed_to_the_person_nothing_is_compared(cases: list[Case]) -> None:
    say(factories.erin(), cases[0], 1)
    say(factories.person("eve", Role.EXPERT), cases[0], 1)
    found = measure_label_pace(factories.erin(), Build.objects.none())
    assert (found.agreed, found.compared) == (0, 0)
