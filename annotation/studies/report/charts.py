"""A table drawn: points with intervals, bars of counts, or cells. Pure: a table in, SVG out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final
from xml.sax.saxutils import escape

from annotation.stats.agreement.figures import Figure
from annotation.studies.report.formats import format_cell_words, format_value
from annotation.studies.report.table import Cell, Table

CELL: Final = 150
STYLE: Final = 'role="img" font-family="sans-serif" font-size="12" fill="currentColor"'
LONGEST: Final = 44
"""Letters of a name beside a mark."""
JOINED: Final = " · "
SIGNED: Final = frozenset({"Alpha", "Difference", "Figure", "First − second"})
"""Charted columns whose figures can be below 0."""
ROW, LEFT, WIDE, RIGHT = 26, 300, 420, 180


@dataclass(frozen=True, slots=True)
class ChartFrame:
    """How a chart is laid out: a name on the left, marks in the middle, words on the right. Letters are 12.

    `stacked`: where there is no room beside them, name, words and mark stand below each other.
    """

    row: int
    left: int
    wide: int
    right: int
    stacked: bool = False

    @property
    def whole(self) -> int:
        return self.left + self.wide + self.right


USUAL: Final = ChartFrame(ROW, LEFT, WIDE, RIGHT)
NARROW: Final = ChartFrame(58, 6, 318, 6, stacked=True)
"""The same on a phone."""


def draw_chart(table: Table) -> str:
    """The table as SVG; empty where it has nothing but words and undefined figures.

    Shares stand on one scale, so where a table has both, the counts beside them are left out.
    """
    if table.charted:
        return draw_interval_chart(table)
    drawn = table.drawn or table.columns
    places = [place for place in range(1, len(table.columns)) if table.columns[place] in drawn]
    shares = [place for place in places if holds_shares(column_of_table(table, place))]
    if shares:
        return draw_interval_chart(flatten_share_columns(table, shares))
    counted = [place for place in places if any(map(is_number, column_of_table(table, place)))]
    if len(counted) == 1:
        return draw_bar_chart(table, counted[0])
    return draw_confusion_matrix(table, counted) if counted else ""


def column_of_table(table: Table, place: int) -> list[Cell]:
    return [row[place] for row in table.rows]


def is_number(cell: Cell) -> bool:
    return isinstance(cell, int | float)


def holds_shares(found: list[Cell]) -> bool:
    """Whether a column has figures with a value, or numbers between -1 and 1 that are no counts."""
    if any(isinstance(cell, Figure) and cell.value is not None for cell in found):
        return True
    plain = [cell for cell in found if isinstance(cell, int | float)]
    return bool(plain) and all(isinstance(cell, float) and abs(cell) <= 1 for cell in plain)


def flatten_share_columns(table: Table, places: list[int]) -> Table:
    """The shares alone, a row each, named by the words of its row and, of several columns, its column."""
    texts = count_name_columns(table)
    rows = []
    for row in table.rows:
        for place in places:
            cell, names = row[place], [*map(format_cell_words, row[:texts])]
            names += [table.columns[place]] if len(places) > 1 else []
            figure = cell if isinstance(cell, Figure) else Figure(count_of_cell(cell))
            rows += [] if cell is None else [(JOINED.join(names), figure)]
    return replace(table, columns=("", "value"), rows=tuple(rows), charted="value")


def draw_interval_chart(table: Table, frame: ChartFrame = USUAL) -> str:
    """The charted column: a dot and an interval a row, on one scale; empty where nothing is charted."""
    place = table.columns.index(table.charted) if table.charted else -1
    texts = max(1, count_name_columns(table))
    rows = [(join_row_names(list(map(format_cell_words, row[:texts]))), row[place]) for row in table.rows]
    drawn = [(name, one) for name, one in rows if isinstance(one, Figure) and one.value is not None]
    if place < 0 or not drawn:
        return ""
    low, high = scale_of([one for _, one in drawn], table.charted in SIGNED)
    scale = frame.wide / (high - low)
    marks = "".join(
        draw_chart_row(number_, name, one, low, scale, frame) for number_, (name, one) in enumerate(drawn)
    )
    floor = frame.row * len(drawn) + ROW
    axis = draw_axis(low, high, floor, frame)
    title = f"{table.title}: {table.charted}"
    return format_chart_svg(title, frame.whole, floor + ROW, f"{marks}{axis}")


def scale_of(drawn: list[Figure], signed: bool) -> tuple[float, float]:
    """0 to 1, or -1 to 1 where figures can be below 0: the same for all charts, so that lengths compare.

    Only what lies outside widens it.
    """
    ends = [end for one in drawn for end in (one.value, one.low, one.high) if end is not None]
    return min(*ends, -1.0 if signed or min(ends) < 0 else 0.0), max(*ends, 1.0)


def draw_axis(low: float, high: float, floor: int, frame: ChartFrame) -> str:
    """The line below a chart with its two ends; 0 is marked where it lies between them."""
    left, right, under = frame.left, frame.left + frame.wide, floor + ROW - 6
    axis = (
        f'<line x1="{left}" x2="{right}" y1="{floor}" y2="{floor}" stroke="currentColor"/>'
        f'<text x="{left}" y="{under}">{format_value(low)}</text>'
        f'<text x="{right}" y="{under}" text-anchor="end">{format_value(high)}</text>'
    )
    if low >= 0:
        return axis
    zero = left - low * frame.wide / (high - low)
    return axis + (
        f'<line x1="{zero:.1f}" x2="{zero:.1f}" y1="8" y2="{floor}" stroke="currentColor" '
        f'stroke-opacity="0.4" stroke-dasharray="3"/>'
        f'<text x="{zero:.1f}" y="{under}" text-anchor="middle">0</text>'
    )


def count_name_columns(table: Table) -> int:
    """How many columns, from the left, only name a row."""
    worded = (all(isinstance(row[place], str) for row in table.rows) for place in range(len(table.columns)))
    return len(list(takewhile(bool, worded)))


def join_row_names(names: list[str]) -> str:
    """The names of a row as one of at most LONGEST letters; short ones leave their room to long ones."""
    room, kept = LONGEST - len(JOINED) * (len(names) - 1), dict.fromkeys(range(len(names)), "")
    for number_, place in enumerate(sorted(kept, key=lambda one: len(names[one]))):
        most = room // (len(names) - number_)
        kept[place] = names[place] if len(names[place]) <= most else f"{names[place][: most - 1]}…"
        room -= len(kept[place])
    return JOINED.join(kept.values())


def draw_chart_row(
    row: int, name: str, one: Figure, low: float, scale: float, frame: ChartFrame = USUAL
) -> str:
    """One row of a chart: its name, the interval as a line, the value as a dot and in words."""
    assert one.value is not None, "rows without a value are left out"
    y, left = frame.row * row + ROW, frame.left
    at = y + 26 if frame.stacked else y - 4
    line = ""
    if one.low is not None and one.high is not None:
        line = (
            f'<line x1="{left + (one.low - low) * scale:.1f}" x2="{left + (one.high - low) * scale:.1f}" '
            f'y1="{at}" y2="{at}" stroke="currentColor" stroke-width="2"/>'
        )
    short = escape(name)
    told = escape(format_cell_words(one))
    return (
        (
            f'<text x="{left}" y="{y - 8}">{short}</text><text x="{left}" y="{y + 8}">{told}</text>'
            if frame.stacked
            else f'<text x="{left - 10}" y="{y}" text-anchor="end">{short}</text>'
            f'<text x="{left + frame.wide + 10}" y="{y}">{told}</text>'
        )
        + line
        + f'<circle cx="{left + (one.value - low) * scale:.1f}" cy="{at}" r="4"/>'
    )


def draw_bar_chart(table: Table, place: int) -> str:
    """A bar a row, from 0."""
    most = max(count_of_cell(row[place]) for row in table.rows) or 1
    drawn = []
    for line, row in enumerate(table.rows):
        y, long = ROW * (line + 1), WIDE * count_of_cell(row[place]) / most
        drawn.append(
            name_at(LEFT - 10, y, format_cell_words(row[0]))
            + f'<rect x="{LEFT}" y="{y - 12}" width="{long:.1f}" height="15" fill-opacity="0.6"/>'
            + f'<text x="{LEFT + long + 8:.1f}" y="{y}">{escape(format_cell_words(row[place]))}</text>'
        )
    return format_chart_svg(table.title, LEFT + WIDE + RIGHT, ROW * (len(table.rows) + 1), "".join(drawn))


def draw_confusion_matrix(table: Table, places: list[int]) -> str:
    """A confusion matrix's row as four cells: the fuller, the darker; every cell has its count in words."""
    heads = "".join(
        f'<text x="{LEFT + CELL * (number_ + 0.5)}" y="{ROW - 8}" text-anchor="middle">'
        f"{escape(shorten_row_name(table.columns[place], 24))}</text>"
        for number_, place in enumerate(places)
    )
    lines = "".join(grid_row(table, places, line) for line in range(len(table.rows)))
    return format_chart_svg(
        table.title, LEFT + CELL * len(places), ROW * (len(table.rows) + 2), heads + lines
    )


def grid_row(table: Table, places: list[int], line: int) -> str:
    row, y = table.rows[line], ROW * (line + 2)
    all_of_it = sum(count_of_cell(row[place]) for place in places) or 1
    drawn = [name_at(LEFT - 10, y, format_cell_words(row[0]))]
    for number_, place in enumerate(places):
        x, share = LEFT + CELL * number_, count_of_cell(row[place]) / all_of_it
        drawn.append(
            f'<rect x="{x + 1}" y="{y - 17}" width="{CELL - 2}" height="{ROW - 2}" stroke="currentColor" '
            f'stroke-opacity="0.5" fill-opacity="{share / 2:.3f}"/>'
            f'<text x="{x + CELL / 2}" y="{y}" '
            f'text-anchor="middle">{escape(format_cell_words(row[place]))}</text>'
        )
    return "".join(drawn)


def count_of_cell(cell: Cell) -> float:
    return float(cell) if isinstance(cell, int | float) else 0.0


def name_at(x: float, y: float, name: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="end">{escape(shorten_row_name(name))}</text>'


def shorten_row_name(name: str, longest: int = LONGEST) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "…"


def format_chart_svg(title: str, wide: float, tall: float, inside: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" {STYLE}>'
        f"<title>{escape(title)}</title>{inside}</svg>\n"
    )
