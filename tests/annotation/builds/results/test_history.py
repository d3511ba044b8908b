from __future__ import annotations

import itertools
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.builds.control import pause_resume
from annotation.builds.results import history
from annotation.jobs import worker
from annotation.models import Build, Moment
from tests import factories

pytestmark = pytest.mark.django_db


def test_moments_grow_sparser_with_age_so_that_a_day_has_some_hundreds() -> None:
    build, start = factories.opened(), timezone.now()
    seconds = [*range(600), *range(600, 86_400, 30)]
    noted = [at for at in seconds if history.record_build_totals(build, start + timedelta(seconds=at))]
    assert noted[:4] == [0, 2, 4, 6]
    assert 250 < len(noted) < 450
    gaps = [late - early for early, late in itertools.pairwise(noted)]
    assert max(gaps) <= 0.02 * 86_400 + 30


def test_a_moment_has_the_totals_of_its_time() -> None:
    build, now = factories.opened(), timezone.now()
    factories.settled(factories.cases(build)[0], 1)
    factories.abandoned(factories.cases(build)[1])
    build.tally.change(spent=7)
    assert history.record_build_totals(build, now)
    moment = Moment.objects.get()
    assert (moment.at, moment.total, moment.settled, moment.abandoned, moment.spent) == (now, 9, 1, 1, 7)


def test_nothing_is_noted_before_there_are_cases() -> None:
    build = factories.launched()
    assert not history.record_build_totals(build, timezone.now(), always=True)
    assert history.find_build_start(build) is None


def test_the_end_and_what_people_do_are_always_noted() -> None:
    build = factories.opened()
    history.record_build_totals(build, timezone.now())
    pause_resume.control_build(build, pause_resume.Action.PAUSE)
    pause_resume.control_build(build, pause_resume.Action.RESUME)
    worker.close_build(build, Build.State.DONE)
    assert Moment.objects.count() == 4
    assert history.find_build_start(build) == Moment.objects.earliest("at").at
