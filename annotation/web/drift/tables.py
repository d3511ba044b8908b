"""The drift checks of a build as a paper prints them: for CSV, JSON, LaTeX and SVG."""

from __future__ import annotations

from annotation.models import DriftCheck
from annotation.models.builds.build import NANO
from annotation.studies.report.table import Cell, Table

COLUMNS = (
    *("After settled cases", "Found", "Pairs", "As at first", "Higher", "Lower", "No verdict once"),
    *("p", "Cost (dollars)"),
)
NOTE = "Higher and lower refer to the screener’s verdict. The baseline asks each pair twice."


def build_drift_tables(of: DriftCheck) -> tuple[Table, ...]:
    """All finished checks of the build that `of` checked, the oldest first."""
    checks = of.watch.checks.filter(finished_at__isnull=False).order_by("number")
    rows = tuple(map(build_check_row, checks))
    return (Table("checks", "Drift checks", COLUMNS, rows, NOTE, drawn=("As at first",)),)


def build_check_row(check: DriftCheck) -> tuple[Cell, ...]:
    """The counts of a check; the baseline has no p."""
    counts = check.agreed, check.higher, check.lower, check.judged_once
    found = "baseline" if check.is_baseline else "a shift" if check.shifted else "within chance"
    return f"{check.settled}", found, sum(counts), *counts, check.p_value, check.cost / NANO
