"""One query's tests beside all of its candidates, as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from django.urls import reverse

from annotation.review.own_runs.cross_tests import MOST_RUNS, Candidate, CrossingCell, CrossingRow, Grid, Mark
from annotation.web.cases.code import first_line
from annotation.web.cases.test_strength import is_forgotten
from annotation.web.cases.traces import shorten_trace_value
from annotation.web.shared.words import OUTCOMES, Sign, label_sign

ACCEPTED: Final = Sign("✓", "match", "good")
NOT_ACCEPTED: Final = Sign("–", "no match, or not judged")
MARKS: Final = MappingProxyType(
    {
        Mark.WRONG: Sign("✗", "wrong: every match fails it", "bad"),
        Mark.EMPTY: Sign("○", "useless: every function passes it", "warn"),
    }
)
MISSING: Final = Sign("·", "not run")
COMING: Final = Sign("…", "waiting")
NOT_RUN: Final = Sign("?", "could not be run", "warn")


@dataclass(frozen=True, slots=True)
class GridView:
    """The table, and what a request would run. `nobody_came`: runs wait, and no worker takes them."""

    grid: Grid
    columns: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    missing: int
    nobody_came: bool
    most: int = MOST_RUNS

    @property
    def done(self) -> int:
        return self.grid.cells - self.missing - self.grid.open


def grid_view(grid: Grid, authors: Mapping[int, str] | None = None) -> GridView:
    """A table of any tests and candidates, in a build or in a study.

    `authors`: by program, under which name its writer is shown, where that is not the account's.
    """
    names = {
        candidate.snippet.pk: str(candidate.case.rank if candidate.case else number)
        for number, candidate in enumerate(grid.candidates, 1)
    }
    return GridView(
        grid,
        columns=[column_of(candidate, names[candidate.snippet.pk]) for candidate in grid.candidates],
        rows=number_alike([row_view(row, names, authors or {}) for row in grid.rows]),
        missing=len(grid.missing),
        nobody_came=any(
            cell.trial is not None and is_forgotten(cell.trial) for row in grid.rows for cell in row.cells
        ),
    )


def column_of(candidate: Candidate, name: str) -> dict[str, Any]:
    """A candidate. `href` leads to its case, empty where there is none."""
    case = candidate.case
    return {
        "name": name,
        "title": shorten_trace_value(first_line(candidate.snippet.head)),
        "sign": ACCEPTED if candidate.accepted else label_sign(case.label) if case else NOT_ACCEPTED,
        "href": reverse("review-case", args=[case.pk]) if case else "",
    }


def row_view(row: CrossingRow, names: Mapping[int, str], authors: Mapping[int, str]) -> dict[str, Any]:
    """A test: who wrote it for which candidate, and what all candidates together say of it."""
    program = row.test.program
    author = program.author.get_username() if program.author else "test writer"
    written = f"{author}, for {names.get(program.pair.snippet_id, 'another')}"
    return {
        "name": authors.get(program.pk, written),
        "reading": shorten_trace_value(program.reading),
        "mark": MARKS[row.mark] if row.mark else None,
        "cells": [{"sign": sign_of_cell(cell), "href": href_of(cell), "own": cell.own} for cell in row.cells],
    }


def number_alike(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tests of one author for one candidate have one name: from the second on it gets a number."""
    seen: Counter[str] = Counter()
    for row in rows:
        seen[row["name"]] += 1
        if seen[row["name"]] > 1:
            row["name"] = f"{row['name']} ({seen[row['name']]})"
    return rows


def sign_of_cell(cell: CrossingCell) -> Sign:
    """How a test ended beside a candidate."""
    if cell.outcome is not None:
        return OUTCOMES[cell.outcome]
    return COMING if cell.is_open else NOT_RUN if cell.trial else MISSING


def href_of(cell: CrossingCell) -> str:
    """To the run, or to the case whose recorded run it is; a rater's own run has no page here."""
    if cell.outcome is None and cell.is_open:
        return ""
    if cell.run is not None:
        return "" if cell.run.assignment_id else reverse("review-execution", args=[cell.run.pk])
    if cell.trial is not None:
        return reverse("review-trial", args=[cell.trial.pk])
    return "" if cell.case is None else reverse("review-case", args=[cell.case])
