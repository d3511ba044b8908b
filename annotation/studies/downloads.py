"""In which formats a table of figures can be taken home."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from annotation.studies.drawing import drawing
from annotation.studies.formats import as_csv, as_json
from annotation.studies.latex import as_latex
from annotation.studies.table import Table

FORMATS: Final[Mapping[str, tuple[Callable[[Table], str], str]]] = {
    "csv": (as_csv, "text/csv; charset=utf-8"),
    "json": (as_json, "application/json"),
    "tex": (as_latex, "application/x-tex"),
    "svg": (drawing, "image/svg+xml"),
}


def formats_of(table: Table) -> tuple[str, ...]:
    """All of them, without a drawing of a table that has nothing to draw."""
    return tuple(name for name in FORMATS if name != "svg" or drawing(table))
