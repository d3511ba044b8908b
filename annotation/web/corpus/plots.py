"""Histograms and curves in a box of 600 by 120, as bars and corners; the table beside each says the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from annotation.web.builds.trends import HEIGHT, WIDTH, Line

GAP: Final = 0.12
"""Of a bar's room, left empty beside it."""
INNER_GAP: Final = 0.5
"""The same of a bar inside another."""


@dataclass(frozen=True, slots=True)
class Column:
    """A bar that stands on the axis."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Plot:
    """`top` is the scale's upper end, `start` and `end` are the axis's, all in words; `columns` may be none.

    `name` is what the columns count, for the key. `inner` are narrower columns inside them, which count
    `inner_name`. `names` stand below, one a column, where there are any: then `start` and `end` do not.
    """

    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    top: str
    start: str
    end: str
    name: str = ""
    inner: tuple[Column, ...] = ()
    inner_name: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """A curve: a style's class, a name, and heights from left to right, None where there is none."""

    kind: str
    name: str
    heights: Sequence[float | None]


def draw_histogram(
    heights: Sequence[float], others: Sequence[Series], *, top: str, start: str, end: str, name: str
) -> Plot | None:
    """Columns, with curves over them on the same scale; None where nothing is above 0."""
    highest = max(
        [*heights, *(height for series in others for height in series.heights if height is not None)],
        default=0,
    )
    if not highest:
        return None
    lines = tuple(trace_curve_line(other, highest) for other in others)
    return Plot(arrange_plot_columns(heights, highest), lines, top, start, end, name)


def nest_plot_columns(plot: Plot, heights: Sequence[float], highest: float, name: str) -> Plot:
    """The plot with a narrower column inside each of its own, on its scale, which ends at `highest`."""
    return replace(plot, inner=arrange_plot_columns(heights, highest, INNER_GAP), inner_name=name)


def arrange_plot_columns(heights: Sequence[float], highest: float, gap: float = GAP) -> tuple[Column, ...]:
    """As many columns beside each other, each in the middle of its room."""
    room = WIDTH / len(heights)
    return tuple(
        Column(
            round(room * (place + gap / 2), 2),
            round(HEIGHT - HEIGHT * height / highest, 2),
            round(room * (1 - gap), 2),
            round(HEIGHT * height / highest, 2),
        )
        for place, height in enumerate(heights)
    )


def draw_curve_plot(
    series: Sequence[Series], highest: float, *, top: str, start: str, end: str
) -> Plot | None:
    """Curves alone on a scale up to `highest`; None where no point is known."""
    if not any(height is not None for line in series for height in line.heights):
        return None
    return Plot((), tuple(trace_curve_line(line, highest) for line in series), top, start, end)


def trace_curve_line(series: Series, highest: float) -> Line:
    """Corners over the middles of as many columns; what is not known is passed over."""
    room = WIDTH / len(series.heights)
    corners = " ".join(
        f"{room * (place + 0.5):.1f},{HEIGHT - HEIGHT * min(height / highest, 1):.1f}"
        for place, height in enumerate(series.heights)
        if height is not None
    )
    return Line(series.kind, series.name, corners)


def bin_counts(counts: Mapping[int, int], first: int, last: int) -> list[tuple[str, int]]:
    """How many have each number from `first` to `last`, under its name; the last bin has all above, too."""
    above = sum(count for number, count in counts.items() if number > last)
    bins = [(str(number), counts.get(number, 0)) for number in range(first, last)]
    return [*bins, (f"{last}+" if above else str(last), counts.get(last, 0) + above)]
