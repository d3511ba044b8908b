"""The tables of a comparison of labels as a paper prints them: for CSV, JSON, LaTeX and SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.builds.results.label_comparison import LabelComparison
from annotation.stats.agreement.figures import Figure
from annotation.stats.agreement.flips import Figures
from annotation.stats.intervals import Mean
from annotation.studies.report.table import Cell, Table
from annotation.web.comparison.page import FigureRow

NOT_DEFINED = "not defined: too few pairs have a label of both"


def build_comparison_tables(page: Mapping[str, Any], names: tuple[str, str]) -> tuple[Table, ...]:
    """Those of a page that compares two sides called `names`; none where they have no pair in common."""
    found: LabelComparison | None = page["found"]
    if found is None or not found.pairs:
        return ()
    made = [build_matrix_table(page["matrix"], names), build_agreement_table(found, names)]
    if page.get("flips"):
        made.append(build_flip_table(page["flips"], names))
    if took := page.get("figures") or page.get("took"):
        made.append(build_took_table(took, names))
    return tuple(made)


def build_matrix_table(matrix: Sequence[Mapping[str, Any]], names: tuple[str, str]) -> Table:
    columns = (f"{names[0]} (first)", *(f"second: {cell['sign'].word}" for cell in matrix[0]["cells"]))
    rows = tuple(
        (
            row["sign"].word,
            *("not counted" if cell["pairs"] is None else cell["pairs"] for cell in row["cells"]),
        )
        for row in matrix
    )
    return Table("labels", "Labels of both", columns, rows, f"Pairs. Second: {names[1]}.")


def build_agreement_table(found: LabelComparison, names: tuple[str, str]) -> Table:
    note = (
        f"Over {found.judged:,} common pairs of {found.queries:,} queries. First: {names[0]}; second: "
        f"{names[1]}. 95 % intervals, queries resampled; exact where few queries have a flip."
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, as_figure(mean, found.queries), remark)
        for name, mean, remark in list_common_shares(found.figures)
    )
    return Table(
        "agreement", "Agreement", ("Over the common pairs", "Figure", "Of"), rows, note, charted="Figure"
    )


def list_common_shares(told: Figures) -> list[tuple[str, Mean | None, str]]:
    """What the common pairs show: each figure's name, its value and a note."""
    return [
        ("No match → match", told.to_match, "share of the common pairs"),
        ("Match → no match", told.to_no_match, "share of the common pairs"),
        ("Agreement", told.agreement, "share of the common pairs"),
        ("Share of matches", told.shift, "second minus first"),
        ("Cohen’s κ", told.kappa, "agreement beyond chance; 1 is all, 0 none"),
    ]


def as_figure(mean: Mean | None, queries: int) -> Figure:
    if mean is None:
        return Figure(None, words=NOT_DEFINED)
    return Figure(mean.value, mean.low, mean.high, queries=queries)


def build_flip_table(flips: Sequence[Mapping[str, Any]], names: tuple[str, str]) -> Table:
    columns = ("First label", "Second label", "First decided by", "Second decided by", "Pairs")
    rows = tuple(
        (row["before"].word, row["after"].word, row["first"], row["second"], row["pairs"]) for row in flips
    )
    return Table("flips", "Flips by what decided", columns, rows, f"First: {names[0]}; second: {names[1]}.")


def build_took_table(took: Sequence[FigureRow], names: tuple[str, str]) -> Table:
    columns = ("Over the common pairs", f"{names[0]} (first)", f"{names[1]} (second)", "Of")
    return Table("took", "What it took", columns, tuple(took))
