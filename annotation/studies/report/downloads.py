"""In which formats a table of figures can be taken home."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from annotation.studies.report.charts import draw_chart
from annotation.studies.report.formats import as_csv, format_table_json
from annotation.studies.report.latex import as_latex
from annotation.studies.report.table import Table

FORMATS: Final[Mapping[str, tuple[Callable[[Table], str], str]]] = {
    "csv": (as_csv, "text/csv; charset=utf-8"),
    "json": (format_table_json, "application/json"),
    "tex": (as_latex, "application/x-tex"),
    "svg": (draw_chart, "image/svg+xml"),
}


def formats_of(table: Table) -> tuple[str, ...]:
    """All of them, without a drawing of a table that has nothing to draw."""
    return tuple(name for name in FORMATS if name != "svg" or draw_chart(table))
