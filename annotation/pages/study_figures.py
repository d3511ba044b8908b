"""The page of a study's figures: every table ready to be read, with what can be downloaded of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.safestring import SafeString, mark_safe

from annotation.agreement import RESAMPLES, SEED, Figure
from annotation.intervals import FEW
from annotation.models import Study, StudyPair
from annotation.studies.downloads import formats_of
from annotation.studies.figures import Figures, confusion_pairs, name_of
from annotation.studies.formats import (
    NARROW,
    USUAL,
    as_svg,
    number,
    probability,
    undefined_draws,
    words,
)
from annotation.studies.report_tables import report_tables
from annotation.studies.reporting import Report
from annotation.studies.table import Cell, Table
from annotation.studies.tables import CELLS, tables

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


@dataclass(frozen=True, slots=True)
class RowView:
    """One row; `name` is what a link must send to name it."""

    name: str
    first: str
    cells: tuple[CellView, ...]


@dataclass(frozen=True, slots=True)
class TableView:
    """One table with its chart, if it has one: as wide as a page, and as narrow as a phone."""

    key: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[RowView, ...]
    note: str
    chart: SafeString
    narrow: SafeString
    formats: tuple[str, ...]
    warning: str = ""


@dataclass(frozen=True, slots=True)
class FiguresPage:
    """The page of a study that somebody has rated in; `unscored`: (id, name) of versions in no figure yet.

    `may_pin` is not there for labels from elsewhere: their figures are those of a file.
    """

    study: Study
    interim: bool
    pairs: int
    queries: int
    draws: int
    seed: int
    tables: tuple[TableView, ...]
    unscored: tuple[tuple[int, str], ...] = ()
    few: int = FEW
    unit: str = "pair"
    may_pin: bool = True

    @property
    def few_queries(self) -> bool:
        """Whether the intervals are known to be too short."""
        return 0 < self.queries < self.few


def figures_page(found: Figures) -> FiguresPage:
    made = found.page
    return FiguresPage(
        study=found.study,
        interim=found.interim,
        pairs=found.flow.sampled,
        queries=made.queries if made else queries_of(found.study),
        draws=made.draws if made else RESAMPLES,
        seed=made.seed if made else SEED,
        tables=tuple(map(view, tables(found))),
        unscored=tuple((one.pk, name_of(one)) for one in found.unscored),
    )


def queries_of(study: Study) -> int:
    """How many queries the sample has."""
    return study.pairs.filter(planted="").values("pair__query").distinct().order_by().count()


def report_page(study: Study, found: Report) -> FiguresPage:
    """What is known of labels from elsewhere: how far their raters agree. Its queries are those of the items
    that say so.
    """
    return FiguresPage(
        study=study,
        interim=False,
        pairs=found.items_with_two,
        queries=found.queries,
        draws=RESAMPLES,
        seed=SEED,
        tables=tuple(map(view, report_tables(found))),
        unit="item with two labels or more,items with two labels or more",
        may_pin=False,
    )


def view(table: Table) -> TableView:
    # as_svg escapes every text that it is given
    chart, narrow = (mark_safe(as_svg(table, frame)) for frame in (USUAL, NARROW))  # noqa: S308
    return TableView(
        key=table.key,
        title=table.title,
        columns=table.columns,
        rows=tuple(row_view(table, row) for row in table.rows),
        note=table.note,
        chart=chart,
        narrow=narrow,
        formats=formats_of(table),
        warning=table.warning,
    )


def row_view(table: Table, row: Sequence[Cell]) -> RowView:
    # Pairs that are open are in none of the four cells, so nothing lists them.
    linked = len(CELLS) if table.key == "confusion" else 0
    cells = tuple(
        cell_view(column, cell, place if place < linked else None)
        for place, (column, cell) in enumerate(zip(table.columns[1:], row[1:], strict=True))
    )
    first = words(row[0])
    return RowView(first.removesuffix(" (each left out)"), first, cells)


def cell_view(column: str, cell: Cell, link: int | None) -> CellView:
    if not isinstance(cell, Figure):
        said = probability(cell) if column.startswith("p") else words(cell)
        return CellView(column, said, numeric=not isinstance(cell, str), link=link)
    if cell.value is None:
        return CellView(column, "–", why=cell.words, numeric=True, link=link)
    ends = "" if cell.low is None or cell.high is None else f"{number(cell.low)} to {number(cell.high)}"
    return CellView(column, number(cell.value), ends, remark(cell), numeric=True, link=link)


def remark(cell: Figure) -> str:
    """What a reader must know of a figure beside its value: why it has no interval, draws without a value."""
    lost = undefined_draws(cell)
    said = f"{lost:,} of {RESAMPLES:,} draws have no value" if lost else ""
    return "; ".join(filter(None, (cell.words, said)))


@dataclass(frozen=True, slots=True)
class PairLine:
    """A pair of a confusion matrix's cell."""

    number: int
    query: str
    snippet: str
    case: int | None
    part: str


@dataclass(frozen=True, slots=True)
class PairsPage:
    """The pairs behind one number."""

    study: Study
    row: str
    cell: str
    lines: tuple[PairLine, ...]
    total: int

    @property
    def pairs(self) -> list[int]:
        """Those whose labels the page tells of: study pairs by number."""
        return [line.number for line in self.lines]


def pairs_page(study: Study, row: str, cell: int) -> PairsPage:
    """At most 500 pairs of one cell. Raises NoFigures for a row or a cell that is not there."""
    parts = dict(confusion_pairs(study, row, cell))
    rows = study.pairs.filter(pk__in=list(parts)[:MOST_PAIRS]).select_related("pair__query", "pair__snippet")
    lines = tuple(pair_line(one, parts[one.pk]) for one in rows.order_by("number"))
    return PairsPage(study, row, CELLS[cell], lines, len(parts))


def pair_line(one: StudyPair, part: float) -> PairLine:
    said = "" if part == 1 else f"{part:.2f} of its raters"
    return PairLine(one.number, one.pair.query.head, one.pair.snippet.head, one.case_id, said)
