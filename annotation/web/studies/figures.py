"""The page of a study's figures: every table ready to be read, with what can be downloaded of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
from retrieval.metrics.resampling import AGREEMENT_SEED, FEW, RESAMPLES

MOST_PAIRS: Final = 500


@dataclass(frozen=True, slots=True)
class CellView:
    """A cell in words; `interval` is there where it is a figure with one; `why` says why it has no value,
    or what else is to be known of it.

    `link` numbers the confusion matrix's cell that it leads to, None for no link.
    """

    column: str
    words: str
    interval: str = ""
    why: str = ""
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
    }


def page_of_tables(study: Study, pairs: int, queries: int, tables: Iterable[Table]) -> dict[str, Any]:
    """What is shown of any study; `few_queries`: the intervals are known to be too short."""
    return {
        "study": study,
        "pairs": pairs,
        "queries": queries,
        "few_queries": 0 < queries < FEW,
        "few": FEW,
        "tables": [build_study_table_view(table) for table in tables],
    }


def report_page(study: Study, found: Report) -> dict[str, Any]:
    """What is known of labels from elsewhere: how far their raters agree. Its queries are those of the items
    that say so. Nothing of it is pinned: its figures are those of a file.
    """
    return page_of_tables(study, found.items_with_two, found.queries, report_tables(found)) | {
        "draws": RESAMPLES,
        "seed": AGREEMENT_SEED,
        "unit": "item with two labels or more,items with two labels or more",
    }


def build_study_table_view(table: Table) -> dict[str, Any]:
    """One table with its chart, if it has one: as wide as a page, and as narrow as a phone."""
    # What draws the chart escapes every text that it is given.
    chart, narrow = (mark_safe(draw_interval_chart(table, frame)) for frame in (USUAL, NARROW))  # noqa: S308
    shown = {name: getattr(table, name) for name in ("key", "title", "columns", "note", "warning")}
    rows = [row_view(table, row) for row in table.rows]
    return shown | {"rows": rows, "chart": chart, "narrow": narrow, "formats": formats_of(table)}


def row_view(table: Table, row: Sequence[Cell]) -> dict[str, Any]:
    """One row; `name` is what a link must send to name it."""
    # Pairs that are open are in none of the four cells, so nothing lists them.
    linked = len(CELLS) if table.key == "confusion" else 0
    cells = [
        cell_view(column, cell, place if place < linked else None)
        for place, (column, cell) in enumerate(zip(table.columns[1:], row[1:], strict=True))
    ]
    first = format_cell_words(row[0])
    return {"name": first.removesuffix(" (each left out)"), "first": first, "cells": cells}


def cell_view(column: str, cell: Cell, link: int | None) -> CellView:
    if not isinstance(cell, Figure):
        said = format_p_value(cell) if column.startswith("p") else format_cell_words(cell)
        return CellView(column, said, numeric=not isinstance(cell, str), link=link)
    if cell.value is None:
        return CellView(column, "–", why=cell.words, numeric=True, link=link)
    value, ends = format_value(cell.value), format_interval(cell, format_value)
    return CellView(column, value, ends, describe_figure_caveat(cell), numeric=True, link=link)


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
