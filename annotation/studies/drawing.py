"""A table drawn: points with intervals, bars of counts, or cells. Pure: a table in, SVG out."""

from __future__ import annotations

from dataclasses import replace
from typing import Final
from xml.sax.saxutils import escape

from annotation.agreement import Figure
from annotation.studies.formats import JOINED, LEFT, LONGEST, RIGHT, ROW, WIDE, as_svg, leading, words
from annotation.studies.table import Cell, Table

CELL: Final = 150
STYLE: Final = 'role="img" font-family="sans-serif" font-size="12" fill="currentColor"'


def drawing(table: Table) -> str:
    """The table as SVG; empty where it has nothing but words and undefined figures.

    Shares stand on one scale, so where a table has both, the counts beside them are left out.
    """
    if table.charted:
        return as_svg(table)
    drawn = table.drawn or table.columns
    places = [place for place in range(1, len(table.columns)) if table.columns[place] in drawn]
    shares = [place for place in places if holds_shares(column(table, place))]
    if shares:
        return as_svg(pointed(table, shares))
    counted = [place for place in places if any(map(is_number, column(table, place)))]
    if len(counted) == 1:
        return bars(table, counted[0])
    return grid(table, counted) if counted else ""


def column(table: Table, place: int) -> list[Cell]:
    return [row[place] for row in table.rows]


def is_number(cell: Cell) -> bool:
    return isinstance(cell, int | float)


def holds_shares(found: list[Cell]) -> bool:
    """Whether a column has figures with a value, or numbers between -1 and 1 that are no counts."""
    if any(isinstance(cell, Figure) and cell.value is not None for cell in found):
        return True
    plain = [cell for cell in found if isinstance(cell, int | float)]
    return bool(plain) and all(isinstance(cell, float) and abs(cell) <= 1 for cell in plain)


def pointed(table: Table, places: list[int]) -> Table:
    """The shares alone, a row each, named by the words of its row and, of several columns, its column."""
    texts = leading(table)
    rows = tuple(
        (named(row, texts, table.columns[place] if len(places) > 1 else ""), as_figure(row[place]))
        for row in table.rows
        for place in places
        if row[place] is not None
    )
    return replace(table, columns=("", "value"), rows=rows, charted="value")


def named(row: tuple[Cell, ...], texts: int, what: str) -> str:
    return JOINED.join(filter(None, (*map(words, row[:texts]), what)))


def as_figure(cell: Cell) -> Figure:
    return cell if isinstance(cell, Figure) else Figure(count(cell))


def bars(table: Table, place: int) -> str:
    """A bar a row, from 0."""
    most = max(count(row[place]) for row in table.rows) or 1
    drawn = []
    for line, row in enumerate(table.rows):
        y, long = ROW * (line + 1), WIDE * count(row[place]) / most
        drawn.append(
            name_at(LEFT - 10, y, words(row[0]))
            + f'<rect x="{LEFT}" y="{y - 12}" width="{long:.1f}" height="15" fill-opacity="0.6"/>'
            + f'<text x="{LEFT + long + 8:.1f}" y="{y}">{escape(words(row[place]))}</text>'
        )
    return whole(table, LEFT + WIDE + RIGHT, ROW * (len(table.rows) + 1), "".join(drawn))


def grid(table: Table, places: list[int]) -> str:
    """A confusion matrix's row as four cells: the fuller, the darker; every cell has its count in words."""
    heads = "".join(
        f'<text x="{LEFT + CELL * (number_ + 0.5)}" y="{ROW - 8}" text-anchor="middle">'
        f"{escape(short(table.columns[place], 24))}</text>"
        for number_, place in enumerate(places)
    )
    lines = "".join(grid_row(table, places, line) for line in range(len(table.rows)))
    return whole(table, LEFT + CELL * len(places), ROW * (len(table.rows) + 2), heads + lines)


def grid_row(table: Table, places: list[int], line: int) -> str:
    row, y = table.rows[line], ROW * (line + 2)
    all_of_it = sum(count(row[place]) for place in places) or 1
    drawn = [name_at(LEFT - 10, y, words(row[0]))]
    for number_, place in enumerate(places):
        x, share = LEFT + CELL * number_, count(row[place]) / all_of_it
        drawn.append(
            f'<rect x="{x + 1}" y="{y - 17}" width="{CELL - 2}" height="{ROW - 2}" stroke="currentColor" '
            f'stroke-opacity="0.5" fill-opacity="{share / 2:.3f}"/>'
            f'<text x="{x + CELL / 2}" y="{y}" text-anchor="middle">{escape(words(row[place]))}</text>'
        )
    return "".join(drawn)


def count(cell: Cell) -> float:
    return float(cell) if isinstance(cell, int | float) else 0.0


def name_at(x: float, y: float, name: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="end">{escape(short(name))}</text>'


def short(name: str, longest: int = LONGEST) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "…"


def whole(table: Table, wide: float, tall: float, inside: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" {STYLE}>'
        f"<title>{escape(table.title)}</title>{inside}</svg>\n"
    )
