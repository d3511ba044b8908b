"""A build's progress and spending over time, as lines for a chart and as rows for its table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from annotation.builds.results.progress import Snapshot
from annotation.models import Moment
from annotation.web.builds import paper_figures

WIDTH: Final = 600
HEIGHT: Final = 120
MOST_POINTS: Final = 120
"""A line has no more corners than its place has room for."""
ROWS: Final = 12

Noted = tuple[datetime, int, int, int]
"""When, and how many were settled, how many abandoned, how much was spent then."""


@dataclass(frozen=True, slots=True)
class Point:
    """The totals `seconds` after the cases were made. Money is in nanodollars."""

    seconds: float
    finished: int
    abandoned: int
    spent: int

    @property
    def at_paper(self) -> float:
        """What so many finished pairs would have cost as the paper reports it."""
        return float(self.finished * paper_figures.COST)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart: its class, its name, its corners in a box of 600 by 120."""

    kind: str
    name: str
    points: str


def build_progress_trend(shot: Snapshot, now: datetime) -> dict[str, Any] | None:
    """From the first noted moment until now, or until the end; None while there is nothing to draw.

    `span` is in seconds, `rows` are some of the points for reading; the charts' scales end at their `top`.
    """
    columns = ("at", "settled", "abandoned", "spent")
    moments = list(Moment.objects.filter(build=shot.build).order_by("at").values_list(*columns))
    if not moments:
        return None
    points = points_of(moments, shot, shot.build.finished_at or now)
    span = points[-1].seconds
    if len(points) < 2 or span <= 0:
        return None
    drawn = thin_trend_points(points, MOST_POINTS)
    return {
        "span": span,
        "progress": progress_of(drawn, shot),
        "money": money_of(drawn, shot),
        "rows": thin_trend_points(points, ROWS),
    }


def points_of(moments: Sequence[Noted], shot: Snapshot, until: datetime) -> list[Point]:
    """The moments, and the totals of now at the end: the last moment may be some time ago."""
    start, tally = moments[0][0], shot.tally
    points = [
        Point((at - start).total_seconds(), settled + abandoned, abandoned, spent)
        for at, settled, abandoned, spent in moments
        if at <= until
    ]
    last = Point((until - start).total_seconds(), shot.finished, tally.abandoned, tally.spent)
    return [*points, last] if not points or last.seconds > points[-1].seconds else [*points[:-1], last]


def thin_trend_points(points: Sequence[Point], most: int) -> tuple[Point, ...]:
    """At most so many points, evenly by time, the first and the last among them."""
    if len(points) <= most:
        return tuple(points)
    span, kept = points[-1].seconds, [points[0]]
    for point in points[1:-1]:
        if len(kept) < most - 1 and point.seconds >= len(kept) * span / (most - 1):
            kept.append(point)
    return (*kept, points[-1])


def progress_of(points: Sequence[Point], shot: Snapshot) -> dict[str, Any]:
    top = float(max(shot.tally.total, 1))
    lines = [draw_trend_line("finished", "finished", points, lambda point: point.finished, top)]
    if shot.tally.abandoned:
        name = "abandoned"
        lines.append(draw_trend_line("abandoned", name, points, lambda point: point.abandoned, top))
    return {"lines": lines, "top": top}


def money_of(points: Sequence[Point], shot: Snapshot) -> dict[str, Any] | None:
    """Spending beside what the paper would have spent on as many pairs; None where nothing was paid."""
    if not shot.tally.spent:
        return None
    top = max(float(shot.tally.spent), points[-1].at_paper)
    paper = "for as many pairs at the paper’s cost"
    lines = [
        draw_trend_line("spent", "spent", points, lambda point: point.spent, top),
        draw_trend_line("paper", paper, points, lambda point: point.at_paper, top),
    ]
    return {"lines": lines, "top": top}


def draw_trend_line(
    kind: str, name: str, points: Sequence[Point], value: Callable[[Point], float], top: float
) -> Line:
    """Its corners are `x,y` of each point, from the left bottom corner."""
    span = points[-1].seconds
    corners = (
        f"{WIDTH * point.seconds / span:.1f},{HEIGHT - HEIGHT * min(value(point) / top, 1):.1f}"
        for point in points
    )
    return Line(kind, name, " ".join(corners))
