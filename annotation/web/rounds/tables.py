"""The tables of a build's rounds as a paper prints them: for CSV, JSON, LaTeX and SVG."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.builds.results.rounds import Agreement, Round
from annotation.models.builds.build import NANO
from annotation.studies.report.table import Cell, Table

PER_ROUND = ("Cases", "Settled", "Matches", "Screened", "Unclear", "Abandoned", "Calls", "Cost (dollars)")
INTERVALS = "95 % intervals, queries resampled. A pair that a round could not judge is a missing value."


def build_round_tables(page: Mapping[str, Any]) -> tuple[Table, ...]:
    """Those of the page of rounds; no agreement where no pair was judged twice."""
    agreement: Agreement | None = page["agreement"]
    said = tuple((one.matches, one.no_matches, one.unjudged, pairs) for one, pairs in page["said"])
    return (
        *([build_agreement_table(agreement)] if agreement else []),
        Table(
            "rounds",
            "Round by round",
            ("Round", *PER_ROUND),
            tuple(build_round_row(row) for row, _ in page["rows"]),
            "Calls are those behind the verdicts, no matter which build paid.",
            drawn=("Matches",),
        ),
        Table(
            "said",
            "Labels of the rounds",
            ("Rounds that say match", "No match", "Nothing", "Pairs"),
            said,
            drawn=("Pairs",),
        ),
    )


def build_agreement_table(found: Agreement) -> Table:
    note = (
        f"Over {found.pairs:,} pairs of {found.queries:,} queries that two rounds or more judged. {INTERVALS}"
    )
    rows = (("Krippendorff’s alpha", found.alpha), ("Same label", found.alike))
    return Table(
        "agreement", "Agreement of the rounds", ("Of the rounds", "Figure"), rows, note, charted="Figure"
    )


def build_round_row(row: Round) -> tuple[Cell, ...]:
    """A round's counts as numbers."""
    counts = (row.cases, row.settled, row.matches, row.screened, row.unclear, row.abandoned, row.calls)
    return f"Round {row.number}", *counts, row.cost / NANO
