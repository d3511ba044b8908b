"""A query's matches side by side: how their code differs, and which assertions each passes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import QuerySet
from django.http import QueryDict

from annotation.models import Build, Case
from annotation.pages.browse import Counts, counts_of
from annotation.pages.candidates import Said, agents_said, first_line, others_said
from annotation.pages.code import LIST_BOUNDS, Code
from annotation.pages.differences import Difference, Side, difference, side_of, stand_in
from annotation.pages.paging import window
from annotation.pages.traces import short
from annotation.pages.words import OUTCOMES, Sign
from retrieval.models import Text
from sandbox.program import candidate_names
from sandbox.report import Assertion, Report

PAGE_SIZE = 6
MOST_ASSERTIONS = 100
PASSED: Final = Sign("✓", "passed", "good")
FAILED: Final = Sign("✗", "failed", "bad")
NOT_RUN: Final = Sign("–", "not run", "quiet")


@dataclass(frozen=True, slots=True)
class Match:
    """One match. `difference` is None for the base."""

    case: int
    pair: int
    rank: int
    title: str
    labels: tuple[Said, ...]
    outcome: Sign | None
    code: Code
    difference: Difference | None


@dataclass(frozen=True, slots=True)
class Cell:
    """What one match's execution says about one assertion; `line` is in its test program, 0 if not run."""

    case: int
    rank: int
    sign: Sign
    line: int = 0
    values: str = ""


@dataclass(frozen=True, slots=True)
class AssertionRow:
    """One assertion, by its source text, and what each match's execution says of it, in their order."""

    source: str
    cells: tuple[Cell, ...]

    @property
    def divides(self) -> bool:
        """Whether one match passes what another fails."""
        return {PASSED, FAILED} <= {cell.sign for cell in self.cells}


@dataclass(frozen=True, slots=True)
class MatchesPage:
    """`view` is `columns` or `unified`; `base` is the case that the others are compared with."""

    build: Build
    query: Text
    counts: Counts
    matches: tuple[Match, ...]
    base: int
    view: str
    assertions: tuple[AssertionRow, ...]
    more_assertions: int
    untested: int
    place: tuple[str, str] | None
    previous: str
    next: str

    @property
    def total(self) -> int:
        return self.counts.matches

    @property
    def pairs(self) -> list[int]:
        return [match.pair for match in self.matches]


def matches_page(build: Build, visible: QuerySet[Build], query: Text, params: QueryDict) -> MatchesPage:
    """Up to six of the query's matches by rank."""
    rows = Case.objects.filter(build=build, query=query, round=1, label=1)
    related = "annotator", "pair__snippet__body", "execution__report"
    page = window(rows.select_related(*related), ("rank", "id"), params, PAGE_SIZE)
    reports = reports_of(page.rows)
    table = assertion_rows(page.rows, reports)
    base = base_of(page.rows, params.get("base", ""))
    return MatchesPage(
        build=build,
        query=query,
        counts=counts_of(build, [query.pk])[query.pk],
        matches=matches_of(page.rows, base, others_said(page.rows, visible), reports),
        base=base.pk if base else 0,
        view="unified" if params.get("view") == "unified" else "columns",
        assertions=table[:MOST_ASSERTIONS],
        more_assertions=max(0, len(table) - MOST_ASSERTIONS),
        untested=sum(case.pk not in reports for case in page.rows),
        place=place_of(params),
        previous=page.previous,
        next=page.next,
    )


def place_of(params: QueryDict) -> tuple[str, str] | None:
    """Which page of the matches this is, for a form that stays on it."""
    return next(((name, params.get(name, "")) for name in ("after", "before") if name in params), None)


def reports_of(cases: Iterable[Case]) -> dict[int, Report]:
    """By case: the report of its execution, where it has one."""
    return {case.pk: case.execution.whole_report() for case in cases if case.execution}


def base_of(cases: Sequence[Case], wanted: str) -> Case | None:
    """The match asked for, else the best ranked one."""
    return next((case for case in cases if str(case.pk) == wanted), cases[0] if cases else None)


def matches_of(
    cases: Sequence[Case],
    base: Case | None,
    others: Mapping[int, list[Said]],
    reports: Mapping[int, Report],
) -> tuple[Match, ...]:
    sides = {case.pk: side(case) for case in cases}
    return tuple(
        Match(
            case=case.pk,
            pair=case.pair_id,
            rank=case.rank,
            title=first_line(case.pair.snippet.head),
            labels=(*agents_said(case), *others[case.pair_id]),
            outcome=OUTCOMES[reports[case.pk].outcome] if case.pk in reports else None,
            code=sides[case.pk].code,
            difference=None if base is None or case is base else difference(sides[base.pk], sides[case.pk]),
        )
        for case in cases
    )


def side(case: Case) -> Side:
    return side_of(case.pair.snippet.text, f"Match {case.rank}", f"m{case.rank}", LIST_BOUNDS)


def assertion_rows(cases: Sequence[Case], reports: Mapping[int, Report]) -> tuple[AssertionRow, ...]:
    """Every assertion of these cases' executions; first those that divide the matches, else as they came."""
    by_source: dict[str, dict[int, Cell]] = defaultdict(dict)
    for case in cases:
        if case.pk in reports:
            for source, cell in cells_of(case, reports[case.pk]).items():
                by_source[source][case.pk] = cell
    rows = [
        AssertionRow(source, tuple(found.get(case.pk, Cell(case.pk, case.rank, NOT_RUN)) for case in cases))
        for source, found in by_source.items()
    ]
    return tuple(sorted(rows, key=lambda row: not row.divides))


def cells_of(case: Case, report: Report) -> dict[str, Cell]:
    """By assertion, what this execution says of it; one failed evaluation is enough to fail it."""
    names = frozenset(candidate_names(case.pair.snippet.text))
    cells: dict[str, Cell] = {}
    for assertion in report.assertions:
        source = short(" ".join(stand_in(assertion.source, names).split()))
        if source not in cells or not assertion.passed:
            cells[source] = cell_of(case, assertion)
    return cells


def cell_of(case: Case, assertion: Assertion) -> Cell:
    values = ""
    if not assertion.passed and assertion.left is not None:
        right = "" if assertion.right is None else f", not {assertion.right}"
        values = short(f"{assertion.left}{right}")
    return Cell(case.pk, case.rank, PASSED if assertion.passed else FAILED, assertion.line, values)
