"""What a table of figures is: one shape for the page, for CSV, JSON, LaTeX and SVG."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.stats.agreement.figures import Figure

Cell = str | int | float | Figure | None
"""A word, a count, a share, a figure with its interval, or nothing."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table. `charted` names the column whose figures are drawn, `drawn` those of a drawing of counts
    where not all belong into it; `note` says how to read it, `warning` what is missing in it.
    """

    key: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    charted: str = ""
    warning: str = ""
    drawn: tuple[str, ...] = ()
