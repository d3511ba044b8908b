"""A build's progress and spending over time, as lines for a chart and as rows for its table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from annotation.models import Moment
from annotation.pages import paper
from annotation.progress import Snapshot

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
        return float(self.finished * paper.COST)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart: its class, its name, its corners in a box of 600 by 120."""

    kind: str
    name: str
    points: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines under a common scale that ends at `top`."""

    lines: tuple[Line, ...]
    top: float


@dataclass(frozen=True, slots=True)
class Trend:
    """The charts of a build; `span` is in seconds, `rows` are some of the points for reading."""

    span: float
    progress: Chart
    money: Chart | None
    rows: tuple[Point, ...]


def trend(shot: Snapshot, now: datetime) -> Trend | None:
    """From the first noted moment until now, or until the end; None while there is nothing to draw."""
    columns = ("at", "settled", "abandoned", "spent")
    moments = list(Moment.objects.filter(build=shot.build).order_by("at").values_list(*columns))
    if not moments:
        return None
    points = points_of(moments, shot, shot.build.finished_at or now)
    span = points[-1].seconds
    if len(points) < 2 or span <= 0:
        return None
    drawn = thinned(points, MOST_POINTS)
    return Trend(span, progress_of(drawn, shot), money_of(drawn, shot), thinned(points, ROWS))


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


def thinned(points: Sequence[Point], most: int) -> tuple[Point, ...]:
    """At most so many points, evenly by time, the first and the last among them."""
    if len(points) <= most:
        return tuple(points)
    span, kept = points[-1].seconds, [points[0]]
    for point in points[1:-1]:
        if len(kept) < most - 1 and point.seconds >= len(kept) * span / (most - 1):
            kept.append(point)
    return (*kept, points[-1])


def progress_of(points: Sequence[Point], shot: Snapshot) -> Chart:
    top = float(max(shot.tally.total, 1))
    finished = Line("finished", "finished", corners(points, lambda one: one.finished, top))
    abandoned = Line("abandoned", "of them abandoned", corners(points, lambda one: one.abandoned, top))
    return Chart((finished, abandoned) if shot.tally.abandoned else (finished,), top)


def money_of(points: Sequence[Point], shot: Snapshot) -> Chart | None:
    """Spending beside what the paper would have spent on as many pairs; None where nothing was paid."""
    if not shot.tally.spent:
        return None
    top = max(float(shot.tally.spent), points[-1].at_paper)
    lines = [
        Line("spent", "spent", corners(points, lambda one: one.spent, top)),
        Line("paper", "as many pairs at the paper’s cost", corners(points, lambda one: one.at_paper, top)),
    ]
    return Chart(tuple(lines), top)


def corners(points: Sequence[Point], value: Callable[[Point], float], top: float) -> str:
    """`x,y` of each point, from the left bottom corner."""
    span = points[-1].seconds
    return " ".join(
        f"{WIDTH * one.seconds / span:.1f},{HEIGHT - HEIGHT * min(value(one) / top, 1):.1f}" for one in points
    )
