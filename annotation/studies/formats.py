"""A table of figures as CSV, JSON and its chart. Pure: a table in, text out."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, dataclass
from itertools import takewhile
from typing import Any, Final
from xml.sax.saxutils import escape

from annotation.agreement import RESAMPLES, Figure
from annotation.studies.table import Cell, Table

DIGITS: Final = 3
ENDS: Final = ("low", "high", "undefined draws", "remark")
"""What a figure's columns are called after that of its value."""
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""


def number(value: float) -> str:
    """As tables print it: counts whole, all else with three digits."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.{DIGITS}f}".replace("-", "−")


def words(cell: Cell) -> str:
    """A cell to be read: a figure with its interval, or why it has no value."""
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell
    if not isinstance(cell, Figure):
        return number(cell)
    if cell.value is None:
        return cell.words or "–"
    if cell.low is None or cell.high is None:
        return number(cell.value)
    return f"{number(cell.value)} [{number(cell.low)}, {number(cell.high)}]"


def probability(value: Cell) -> str:
    """A p-value is never 0."""
    return "< 0.001" if isinstance(value, float) and value < 0.001 else words(value)


def as_csv(table: Table) -> str:
    """A figure has a column for its value and each of ENDS; cells that a spreadsheet would run are quoted."""
    figures = [
        any(isinstance(row[place], Figure) for row in table.rows) for place in range(len(table.columns))
    ]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    heads = [
        head
        for name, wide in zip(table.columns, figures, strict=True)
        for head in ([name, *(f"{name} {end}" for end in ENDS)] if wide else [name])
    ]
    writer.writerow(heads)
    for row in table.rows:
        writer.writerow(
            [plain for cell, wide in zip(row, figures, strict=True) for plain in spread(cell, wide)]
        )
    return out.getvalue()


def spread(cell: Cell, wide: bool) -> list[str]:
    """The columns of a cell."""
    if isinstance(cell, Figure):
        told = (cell.value, cell.low, cell.high, undefined_draws(cell), cell.words)
        return [guarded(one) for one in told]
    return [guarded(cell)] + ([""] * len(ENDS) if wide else [])


def undefined_draws(figure: Figure) -> int:
    """In how many of the draws it has no value."""
    return round(figure.undefined * RESAMPLES)


def guarded(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(FORMULA) else text


def as_json(table: Table) -> str:
    """Everything: values unrounded, intervals, undefined shares, methods and remarks."""
    rows = [dict(zip(table.columns, map(jsonable, row), strict=False)) for row in table.rows]
    body = {
        "table": table.key,
        "title": table.title,
        "note": table.note,
        "warning": table.warning,
        "columns": table.columns,
    }
    named = len(set(table.columns)) == len(table.columns)
    plain = [list(map(jsonable, row)) for row in table.rows]
    return json.dumps({**body, "rows": rows if named else plain}, indent=1)


def jsonable(cell: Cell) -> Any:
    return asdict(cell) if isinstance(cell, Figure) else cell


def said(table: Table) -> str:
    """How to read the table, and what is missing in it."""
    return " ".join(filter(None, (table.note, table.warning)))


LONGEST: Final = 44
"""Letters of a name beside a mark."""
JOINED: Final = " · "
ROW, LEFT, WIDE, RIGHT = 26, 300, 420, 180


@dataclass(frozen=True, slots=True)
class Frame:
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


USUAL: Final = Frame(ROW, LEFT, WIDE, RIGHT)
NARROW: Final = Frame(58, 6, 318, 6, stacked=True)
"""The same on a phone."""


def as_svg(table: Table, frame: Frame = USUAL) -> str:
    """The charted column: a dot and an interval a row, on one scale; empty where nothing is charted."""
    place = table.columns.index(table.charted) if table.charted else -1
    texts = max(1, leading(table))
    rows = [(joined(list(map(words, row[:texts]))), row[place]) for row in table.rows]
    drawn = [(name, one) for name, one in rows if isinstance(one, Figure) and one.value is not None]
    if place < 0 or not drawn:
        return ""
    ends = [end for _, one in drawn for end in (one.value, one.low, one.high) if end is not None]
    low, high = min(*ends, 0.0), max(*ends, 0.0 if min(ends) < 0 else 1.0)
    scale = frame.wide / ((high - low) or 1)
    marks = "".join(mark(number_, name, one, low, scale, frame) for number_, (name, one) in enumerate(drawn))
    floor, left, right = frame.row * len(drawn) + ROW, frame.left, frame.left + frame.wide
    tall = floor + ROW
    axis = f'<line x1="{left}" x2="{right}" y1="{floor}" y2="{floor}" stroke="currentColor"/>'
    ends_ = (
        f'<text x="{left}" y="{tall - 6}">{number(low)}</text>'
        f'<text x="{right}" y="{tall - 6}" text-anchor="end">{number(high)}</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {frame.whole} {tall}" role="img" '
        f'font-family="sans-serif" font-size="12" fill="currentColor"><title>{escape(table.title)}: '
        f"{escape(table.charted)}</title>{marks}{axis}{ends_}</svg>\n"
    )


def leading(table: Table) -> int:
    """How many columns, from the left, only name a row."""
    worded = (all(isinstance(row[place], str) for row in table.rows) for place in range(len(table.columns)))
    return len(list(takewhile(bool, worded)))


def joined(names: list[str]) -> str:
    """The names of a row as one of at most LONGEST letters; short ones leave their room to long ones."""
    room, kept = LONGEST - len(JOINED) * (len(names) - 1), dict.fromkeys(range(len(names)), "")
    for number_, place in enumerate(sorted(kept, key=lambda one: len(names[one]))):
        most = room // (len(names) - number_)
        kept[place] = names[place] if len(names[place]) <= most else f"{names[place][: most - 1]}…"
        room -= len(kept[place])
    return JOINED.join(kept.values())


def mark(row: int, name: str, one: Figure, low: float, scale: float, frame: Frame = USUAL) -> str:
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
    told = escape(words(one))
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
