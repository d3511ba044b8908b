from __future__ import annotations

import itertools
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation.builds.results import progress
from annotation.models import Build, Moment, Tally
from annotation.web.builds import trends
from annotation.web.builds.trends import Point
from tests import factories

pytestmark = pytest.mark.django_db
START = timezone.now() - timedelta(hours=1)


def noted(build: Build, seconds: float, **counts: int) -> None:
    columns = {"total": 9, "settled": 0, "abandoned": 0, "spent": 0} | counts
    Moment.objects.create(build=build, at=START + timedelta(seconds=seconds), **columns)


def shown(build: Build, seconds: float) -> dict[str, Any] | None:
    return trends.build_progress_trend(progress.take_progress_snapshot(build), at(seconds))


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def test_there_is_no_chart_before_there_is_anything_to_draw() -> None:
    build = factories.opened()
    assert shown(build, 100) is None
    noted(build, 0)
    assert shown(build, 0) is None


def test_lines_begin_with_the_first_moment_and_end_with_what_is_now() -> None:
    build = factories.opened()
    noted(build, 0)
    noted(build, 50, settled=3)
    for case in factories.cases(build)[:6]:
        factories.settled(case, 1)
    found = shown(build, 100)
    assert found is not None
    assert (found["span"], found["progress"]["top"]) == (100, 9)
    assert [line.points for line in found["progress"]["lines"]] == ["0.0,120.0 300.0,80.0 600.0,40.0"]
    assert found["rows"] == (Point(0, 0, 0, 0), Point(50, 3, 0, 0), Point(100, 6, 0, 0))
    assert found["money"] is None, "nothing was paid"


def test_spending_stands_beside_what_as_many_pairs_cost_in_the_paper() -> None:
    build = factories.opened()
    noted(build, 0)
    factories.settled(factories.cases(build)[0], 1)
    Tally.objects.get(build=build).change(spent=310_000)
    found = shown(build, 10)
    assert found is not None
    assert found["money"] is not None
    assert {line.kind: line.points for line in found["money"]["lines"]} == {
        "spent": "0.0,120.0 600.0,60.0",
        "paper": "0.0,120.0 600.0,0.0",
    }
    assert found["money"]["top"] == 620_000


def test_time_stops_with_the_build() -> None:
    build = factories.opened()
    noted(build, 0)
    noted(build, 30)
    Build.objects.update(finished_at=at(20), state=Build.State.DONE)
    found = shown(build, 3000)
    assert found is not None
    assert [point.seconds for point in found["rows"]] == [0, 20]


def test_abandoned_cases_have_a_line_of_their_own() -> None:
    build = factories.opened()
    noted(build, 0)
    factories.abandoned(factories.cases(build)[0])
    found = shown(build, 10)
    assert found is not None
    assert [line.name for line in found["progress"]["lines"]] == ["finished", "abandoned"]


def test_a_long_build_is_drawn_with_few_points_evenly_and_with_both_ends() -> None:
    points = [Point(float(second), second, 0, 0) for second in range(5000)]
    kept = trends.thin_trend_points(points, 100)
    assert len(kept) <= 100
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    gaps = [late.seconds - early.seconds for early, late in itertools.pairwise(kept)]
    assert max(gaps) <= 2 * 5000 / 99
