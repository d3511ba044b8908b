"""A table of figures as CSV, JSON, LaTeX and SVG. Pure: a table in, text out."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Final
from xml.sax.saxutils import escape

from annotation.agreement import Figure
from annotation.studies.tables import Cell, Table

DIGITS: Final = 3
LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "−": r"$-$",
        "½": r"$\frac{1}{2}$",
        "⁺": r"$^+$",
        "’": "'",
        "“": "``",
        "”": "''",
        "–": "--",
        "≥": r"$\geq$",
        "α": r"$\alpha$",
        "�": "?",
    }
)
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


def as_csv(table: Table) -> str:
    """Figures take three columns (value, low, high); cells that a spreadsheet would run are quoted."""
    figures = [
        any(isinstance(row[place], Figure) for row in table.rows) for place in range(len(table.columns))
    ]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    heads = [
        head
        for name, wide in zip(table.columns, figures, strict=True)
        for head in ([name, f"{name} low", f"{name} high"] if wide else [name])
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
        return [guarded(one) for one in (cell.value, cell.low, cell.high)]
    return [guarded(cell)] + (["", ""] if wide else [])


def guarded(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(FORMULA) else text


def as_json(table: Table) -> str:
    """Everything: values unrounded, intervals, undefined shares, methods and remarks."""
    rows = [dict(zip(table.columns, map(jsonable, row), strict=False)) for row in table.rows]
    body = {"table": table.key, "title": table.title, "note": table.note, "columns": table.columns}
    named = len(set(table.columns)) == len(table.columns)
    plain = [list(map(jsonable, row)) for row in table.rows]
    return json.dumps({**body, "rows": rows if named else plain}, indent=1)


def jsonable(cell: Cell) -> Any:
    return asdict(cell) if isinstance(cell, Figure) else cell


def as_latex(table: Table) -> str:
    """A booktabs table; every text is escaped."""
    aligned = "l" + "r" * (len(table.columns) - 1)
    lines = [
        r"\begin{table*}[t]\centering\small",
        rf"\caption{{{tex(table.title)}. {tex(table.note)}}}\label{{tab:{table.key}}}",
        rf"\begin{{tabular}}{{{aligned}}}\toprule",
        " & ".join(map(tex, table.columns)) + r" \\ \midrule",
        *(" & ".join(tex(words(cell)) for cell in row) + r" \\" for row in table.rows),
        r"\bottomrule\end{tabular}\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def tex(text: str) -> str:
    """Text as LaTeX prints it; what pdflatex has no letter for becomes a question mark."""
    return "".join(one if ord(one) < 0x250 else "?" for one in text.translate(LATEX))


ROW, LEFT, WIDE, RIGHT = 26, 300, 420, 180


def as_svg(table: Table) -> str:
    """The charted column: a dot and an interval a row, on one scale; empty where nothing is charted."""
    place = table.columns.index(table.charted) if table.charted else -1
    rows = [(words(row[0]), row[place]) for row in table.rows]
    drawn = [(name, one) for name, one in rows if isinstance(one, Figure) and one.value is not None]
    if place < 0 or not drawn:
        return ""
    ends = [end for _, one in drawn for end in (one.value, one.low, one.high) if end is not None]
    low, high = min(*ends, 0.0), max(*ends, 0.0 if min(ends) < 0 else 1.0)
    scale = WIDE / ((high - low) or 1)
    marks = "".join(mark(number_, name, one, low, scale) for number_, (name, one) in enumerate(drawn))
    tall = ROW * (len(drawn) + 2)
    axis = f'<line x1="{LEFT}" x2="{LEFT + WIDE}" y1="{tall - ROW}" y2="{tall - ROW}" stroke="currentColor"/>'
    ends_ = (
        f'<text x="{LEFT}" y="{tall - 6}">{number(low)}</text>'
        f'<text x="{LEFT + WIDE}" y="{tall - 6}" text-anchor="end">{number(high)}</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDE + RIGHT} {tall}" role="img" '
        f'font-family="sans-serif" font-size="12" fill="currentColor"><title>{escape(table.title)}: '
        f"{escape(table.charted)}</title>{marks}{axis}{ends_}</svg>\n"
    )


def mark(row: int, name: str, one: Figure, low: float, scale: float) -> str:
    """One row of a chart: its name, the interval as a line, the value as a dot and in words."""
    y = ROW * (row + 1)
    assert one.value is not None, "rows without a value are left out"
    line = ""
    if one.low is not None and one.high is not None:
        line = (
            f'<line x1="{LEFT + (one.low - low) * scale:.1f}" x2="{LEFT + (one.high - low) * scale:.1f}" '
            f'y1="{y - 4}" y2="{y - 4}" stroke="currentColor" stroke-width="2"/>'
        )
    short = name if len(name) <= 44 else name[:43] + "…"
    return (
        f'<text x="{LEFT - 10}" y="{y}" text-anchor="end">{escape(short)}</text>{line}'
        f'<circle cx="{LEFT + (one.value - low) * scale:.1f}" cy="{y - 4}" r="4"/>'
        f'<text x="{LEFT + WIDE + 10}" y="{y}">{escape(words(one))}</text>'
    )


FORMATS: Final[Mapping[str, tuple[Callable[[Table], str], str]]] = {
    "csv": (as_csv, "text/csv; charset=utf-8"),
    "json": (as_json, "application/json"),
    "tex": (as_latex, "application/x-tex"),
    "svg": (as_svg, "image/svg+xml"),
}
