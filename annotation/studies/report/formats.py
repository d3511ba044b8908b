"""A table of figures as CSV and JSON, and the words of its cells. Pure: a table in, text out."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from itertools import chain
from typing import Any, Final

from annotation.stats.agreement.figures import Figure
from annotation.studies.report.table import Cell, Table
from retrieval.metrics.resampling import RESAMPLES
from retrieval.texts.spreadsheets import escape_formula_cell

DIGITS: Final = 3
ENDS: Final = ("low", "high", "undefined draws", "remark")
"""What a figure's columns are called after that of its value."""


def format_value(value: float) -> str:
    """As tables print it: counts whole, all else with three digits."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.{DIGITS}f}".replace("-", "−")


def format_cell_words(cell: Cell) -> str:
    """A cell to be read: a figure with its interval, or why it has no value."""
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell
    if not isinstance(cell, Figure):
        return format_value(cell)
    if cell.value is None:
        return cell.words or "–"
    if cell.low is None or cell.high is None:
        return format_value(cell.value)
    return f"{format_value(cell.value)} [{format_value(cell.low)}, {format_value(cell.high)}]"


def format_p_value(value: Cell) -> str:
    """A p-value is never 0."""
    return "< 0.001" if isinstance(value, float) and value < 0.001 else format_cell_words(value)


def as_csv(table: Table) -> str:
    """A figure has a column for its value and each of ENDS; cells that a spreadsheet would run are quoted."""
    figures = [
        any(isinstance(row[place], Figure) for row in table.rows) for place in range(len(table.columns))
    ]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    heads = (
        [name, *(f"{name} {end}" for end in ENDS if wide)]
        for name, wide in zip(table.columns, figures, strict=True)
    )
    writer.writerow(chain.from_iterable(heads))
    for row in table.rows:
        writer.writerow(chain.from_iterable(map(expand_cell_columns, row, figures)))
    return out.getvalue()


def expand_cell_columns(cell: Cell, wide: bool) -> list[object]:
    """The columns of a cell."""
    if isinstance(cell, Figure):
        return [cell.value, cell.low, cell.high, undefined_draws(cell), escape_formula_cell(cell.words)]
    return [escape_formula_cell(cell)] + ([""] * len(ENDS) if wide else [])


def undefined_draws(figure: Figure) -> int:
    """In how many of the draws it has no value."""
    return round(figure.undefined * RESAMPLES)


def format_table_json(table: Table) -> str:
    """Everything: values unrounded, intervals, undefined shares, methods and remarks."""
    rows = [dict(zip(table.columns, map(convert_cell_to_json, row), strict=False)) for row in table.rows]
    body = {
        "table": table.key,
        "title": table.title,
        "note": table.note,
        "warning": table.warning,
        "columns": table.columns,
    }
    named = len(set(table.columns)) == len(table.columns)
    plain = [list(map(convert_cell_to_json, row)) for row in table.rows]
    return json.dumps({**body, "rows": rows if named else plain}, indent=1)


def convert_cell_to_json(cell: Cell) -> Any:
    return asdict(cell) if isinstance(cell, Figure) else cell


def format_table_notes(table: Table) -> str:
    """How to read the table, and what is missing in it."""
    return " ".join(filter(None, (table.note, table.warning)))
