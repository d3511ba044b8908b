"""The page of a study's figures: every table ready to be read, with what can be downloaded of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.utils.safestring import mark_safe

from annotation.models import Study
from annotation.stats.agreement.figures import Figure
from annotation.studies.plan.row_names import format_annotator_name
from annotation.studies.report.agreement_report import Report, report_tables
from annotation.studies.report.charts import NARROW, USUAL, draw_interval_chart
from annotation.studies.report.downloads import formats_of
from annotation.studies.report.figures import Figures, confusion_pairs
from annotation.studies.report.formats import format_cell_words, format_p_value, format_value, undefined_draws
from annotation.studies.report.table import Cell, Table
from annotation.studies.report.tables import CELLS, build_study_tables
from annotation.web.shared.words import format_interval
from annotation.web.studies.figure_tiles import build_report_tiles, build_study_tiles
from retrieval.metrics.resampling import AGREEMENT_SEED, FEW, RESAMPLES

MOST_PAIRS: Final = 500
QUESTIONS: Final = (
    (
        "How accurate are the labels?",
        (
            *("main", "main-half", "confusion", "confusion-half", "treatments", "strata", "tags"),
            *("build", "build-half"),
        ),
    ),
    (
        "Can the agents replace a rater?",
        ("comparisons", "comparisons-half", "alternatives", "alternatives-half"),
    ),
    (
        "Do the raters agree?",
        (
            *("agreement", "reliability", "alpha-criteria", "alpha-with-one-more", "kappas"),
            "alpha-differences",
        ),
    ),
    ("Which answer is better?", ("preference",)),
    ("What changes when raters see the agents?", ("influence",)),
    ("Who rated what?", ("flow", "runs", "raters", "counts", "scorings")),
    ("What do papers report?", ("reported",)),
)
"""What the tables answer, by their keys."""


@dataclass(frozen=True, slots=True)
class CellView:
    """A cell in words; `interval` is there where it is a figure with one; `note` numbers the footnote that
    says why it has no value, or what else is to be known of it; 0 for none.

    `link` numbers the confusion matrix's cell that it leads to, None for no link.
    """

    column: str
    words: str
    interval: str = ""
    note: int = 0
    numeric: bool = False
    link: int | None = None


def figures_page(found: Figures) -> dict[str, Any]:
    """The page of a study that somebody has rated in; `unscored` are versions that are in no figure yet."""
    made, sampled = found.page, found.study.pairs.filter(planted="")
    queries = made.queries if made else sampled.values("pair__query").distinct().order_by().count()
    return page_of_tables(found.study, found.flow.sampled, queries, build_study_tables(found)) | {
        "interim": found.interim,
        "draws": made.draws if made else RESAMPLES,
        "seed": made.seed if made else AGREEMENT_SEED,
        "unscored": [(version.pk, format_annotator_name(version)) for version in found.unscored],
        "unit": "pair",
        "may_pin": True,
        "tiles": build_study_tiles(found),
    }


def page_of_tables(study: Study, pairs: int, queries: int, tables: Iterable[Table]) -> dict[str, Any]:
    """What is shown of any study; `few_queries`: the intervals are too short."""
    return {
        "study": study,
        "pairs": pairs,
        "queries": queries,
        "few_queries": 0 < queries < FEW,
        "few": FEW,
        "questions": group_tables([build_study_table_view(table) for table in tables]),
    }


def group_tables(tables: Iterable[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Questions that have a table, each with its tables."""
    known = {table["key"]: table for table in tables}
    grouped = [(said, [known[key] for key in keys if key in known]) for said, keys in QUESTIONS]
    return [(said, shown) for said, shown in grouped if shown]


def report_page(study: Study, found: Report) -> dict[str, Any]:
    """What is known of labels from elsewhere: how far their raters agree. Its queries are those of the items
    that say so. Nothing of it is pinned: its figures are those of a file.
    """
    return page_of_tables(study, found.items_with_two, found.queries, report_tables(found)) | {
        "draws": RESAMPLES,
        "seed": AGREEMENT_SEED,
        "unit": "item with two labels or more,items with two labels or more",
        "tiles": build_report_tiles(found),
    }


def build_study_table_view(table: Table) -> dict[str, Any]:
    """One table with its chart, if it has one: as wide as a page, and as narrow as a phone."""
    # What draws the chart escapes every text that it is given.
    chart, narrow = (mark_safe(draw_interval_chart(table, frame)) for frame in (USUAL, NARROW))  # noqa: S308
    made, footnotes = merge_equal_columns(table), dict[str, int]()
    shown = {name: getattr(made, name) for name in ("key", "title", "columns", "note", "warning")}
    rows = [row_view(made, row, footnotes) for row in made.rows]
    shown |= {"rows": rows, "footnotes": [*footnotes], "formats": formats_of(table)}
    return shown | {"chart": chart, "narrow": narrow}


def merge_equal_columns(table: Table) -> Table:
    """Without each column `NAME, KIND` whose cells are those of the column `NAME`, which then says so."""
    also: dict[str, list[str]] = {column: [] for column in table.columns}
    for place, column in enumerate(table.columns):
        name, _, kind = column.partition(", ")
        if kind and name in also and cells_of(table, place) == cells_of(table, table.columns.index(name)):
            also[name].append(kind)
            del also[column]
    kept = [place for place, column in enumerate(table.columns) if column in also]
    named = [(column, ", ".join(kinds)) for column, kinds in also.items()]
    return replace(
        table,
        columns=tuple(f"{column} (also {kinds})" if kinds else column for column, kinds in named),
        rows=tuple(tuple(row[place] for place in kept) for row in table.rows),
    )


def cells_of(table: Table, place: int) -> list[str]:
    """A column as it is read: figures that differ in their last digits alone are the same."""
    return [format_cell_words(row[place]) for row in table.rows]


def row_view(table: Table, row: Sequence[Cell], footnotes: dict[str, int]) -> dict[str, Any]:
    """One row; `name` is what a link must send to name it. New footnotes are added to `footnotes`."""
    # Pairs that are open are in none of the four cells, so nothing lists them.
    linked = len(CELLS) if table.key == "confusion" else 0
    cells = [
        cell_view(column, cell, place if place < linked else None, footnotes)
        for place, (column, cell) in enumerate(zip(table.columns[1:], row[1:], strict=True))
    ]
    first = format_cell_words(row[0])
    return {"name": first.removesuffix(" (leave-one-out)"), "first": first, "cells": cells}


def cell_view(column: str, cell: Cell, link: int | None, footnotes: dict[str, int]) -> CellView:
    if not isinstance(cell, Figure):
        said = format_p_value(cell) if column.startswith("p") else format_cell_words(cell)
        return CellView(column, said, numeric=not isinstance(cell, str), link=link)
    words = cell.words if cell.value is None else describe_figure_caveat(cell)
    note = footnotes.setdefault(words, len(footnotes) + 1) if words else 0
    if cell.value is None:
        return CellView(column, "–", note=note, numeric=True, link=link)
    value, ends = format_value(cell.value), format_interval(cell, format_value)
    return CellView(column, value, ends, note, numeric=True, link=link)


def describe_figure_caveat(cell: Figure) -> str:
    """What a reader must know of a figure beside its value: why it has no interval, draws without a value."""
    lost = undefined_draws(cell)
    said = f"{lost:,} of {RESAMPLES:,} draws have no value" if lost else ""
    return "; ".join(filter(None, (cell.words, said)))


def pairs_page(study: Study, row: str, cell: int) -> dict[str, Any]:
    """At most 500 pairs of one cell of a confusion matrix, each with how many of its raters are behind it.

    Raises NoFigures for a row or a cell that is not there.
    """
    parts = dict(confusion_pairs(study, row, cell))
    rows = study.pairs.filter(pk__in=list(parts)[:MOST_PAIRS]).select_related("pair__query", "pair__snippet")
    shown = [
        (pair, "all of it" if parts[pair.pk] == 1 else f"{parts[pair.pk]:.2f} of its raters")
        for pair in rows.order_by("number")
    ]
    return {"study": study, "row": row, "cell": CELLS[cell], "pairs": shown, "total": len(parts)}
