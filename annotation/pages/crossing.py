"""One query's tests beside all of its candidates, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from django.urls import reverse

from annotation.models import Build
from annotation.pages.candidates import first_line
from annotation.pages.strength import is_forgotten
from annotation.pages.traces import short
from annotation.pages.words import OUTCOMES, Sign, label_sign
from annotation.review.crossing import MOST_RUNS, Candidate, Cell, Grid, Mark, Row
from retrieval.models import Text

ACCEPTED: Final = Sign("✓", "match", "good")
NOT_ACCEPTED: Final = Sign("–", "no match, or not judged")
MARKS: Final = MappingProxyType(
    {
        Mark.WRONG: Sign("✗", "wrong: every match fails it", "bad"),
        Mark.EMPTY: Sign("○", "empty: all candidates pass it", "warn"),
    }
)
MISSING: Final = Sign("·", "not run")
COMING: Final = Sign("…", "waiting")
NOT_RUN: Final = Sign("?", "could not be run", "warn")


@dataclass(frozen=True, slots=True)
class ColumnView:
    """A candidate. `href` leads to its case, empty where there is none."""

    name: str
    title: str
    sign: Sign
    href: str


@dataclass(frozen=True, slots=True)
class CellView:
    """How a test ended beside a candidate; `href` leads to the run, empty before it."""

    sign: Sign
    href: str
    own: bool


@dataclass(frozen=True, slots=True)
class RowView:
    """A test: who wrote it for which candidate, and what all candidates together say of it."""

    name: str
    reading: str
    mark: Sign | None
    cells: tuple[CellView, ...]


@dataclass(frozen=True, slots=True)
class GridView:
    """The table, and what a request would run. `nobody_came`: runs wait, and no worker takes them."""

    columns: tuple[ColumnView, ...]
    rows: tuple[RowView, ...]
    cells: int
    missing: int
    runs: int
    open: int
    more_tests: int
    more_candidates: int
    nobody_came: bool
    most: int = MOST_RUNS

    @property
    def done(self) -> int:
        return self.cells - self.missing - self.open


@dataclass(frozen=True, slots=True)
class CrossingPage:
    """The table of one query of a build."""

    build: Build
    query: Text
    grid: GridView
    problem: str = ""


def grid_view(grid: Grid, authors: Mapping[int, str] | None = None) -> GridView:
    """A table of any tests and candidates, in a build or in a study.

    `authors`: by program, under which name its writer is shown, where that is not the account's.
    """
    names = {one.snippet.pk: name_of(one, number) for number, one in enumerate(grid.candidates, 1)}
    return GridView(
        columns=tuple(column_of(one, names[one.snippet.pk]) for one in grid.candidates),
        rows=tuple(row_view(row, names, authors or {}) for row in grid.rows),
        cells=grid.cells,
        missing=len(grid.missing),
        runs=grid.next_runs,
        open=grid.open,
        more_tests=grid.more_tests,
        more_candidates=grid.more_candidates,
        nobody_came=any(
            cell.trial is not None and is_forgotten(cell.trial) for row in grid.rows for cell in row.cells
        ),
    )


def name_of(candidate: Candidate, number: int) -> str:
    return str(candidate.case.rank if candidate.case else number)


def column_of(candidate: Candidate, name: str) -> ColumnView:
    case = candidate.case
    return ColumnView(
        name=name,
        title=short(first_line(candidate.snippet.head)),
        sign=ACCEPTED if candidate.accepted else label_sign(case.label) if case else NOT_ACCEPTED,
        href=reverse("review-case", args=[case.pk]) if case else "",
    )


def row_view(row: Row, names: Mapping[int, str], authors: Mapping[int, str]) -> RowView:
    program = row.test.program
    author = program.author.get_username() if program.author else "test writer"
    written = f"{author}, for {names.get(program.pair.snippet_id, 'another')}"
    return RowView(
        name=authors.get(program.pk, written),
        reading=short(program.reading),
        mark=MARKS[row.mark] if row.mark else None,
        cells=tuple(cell_view(cell) for cell in row.cells),
    )


def cell_view(cell: Cell) -> CellView:
    if cell.outcome is not None:
        return CellView(OUTCOMES[cell.outcome], href_of(cell), cell.own)
    if cell.is_open:
        return CellView(COMING, "", cell.own)
    return CellView(NOT_RUN if cell.trial else MISSING, href_of(cell), cell.own)


def href_of(cell: Cell) -> str:
    """To the run, or to the case whose recorded run it is; a rater's own run has no page here."""
    if cell.run is not None:
        return "" if cell.run.assignment_id else reverse("review-execution", args=[cell.run.pk])
    if cell.trial is not None:
        return reverse("review-trial", args=[cell.trial.pk])
    return "" if cell.case is None else reverse("review-case", args=[cell.case])
