"""One query's tests beside all of its candidates: which test is wrong, and which one tests nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q

from annotation.models import Build, Case, Execution, ExecutionRequest, Review, TestProgram, Trial
from annotation.review.own_runs import pace
from annotation.review.own_runs.own_tests import TooManyWaiting
from annotation.review.own_runs.trials import Wanted, open_trials, request_trials
from retrieval.models import Text
from sandbox.reports.report import Outcome

MOST_TESTS: Final = 20
MOST_CANDIDATES: Final = 25
MOST_RUNS: Final = 250
"""That one request asks for; what is left is asked for by the next one."""
FAILS: Final = frozenset(
    {
        Outcome.FAILED,
        Outcome.ERRORED,
        Outcome.TIMED_OUT,
        Outcome.OUT_OF_MEMORY,
        Outcome.OUTPUT_OVERFLOW,
    }
)
HOLDS: Final = frozenset({Outcome.PASSED, Outcome.UNTESTED})


class Mark(StrEnum):
    """What a whole row says of its test."""

    WRONG = "wrong"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Test:
    """A test with what it needs installed."""

    __test__ = False  # no test class: keeps pytest from collecting it

    program: TestProgram
    dependencies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A snippet with what it needs installed, and whether it counts as a match. `case` is where it stands."""

    snippet: Text
    accepted: bool
    dependencies: tuple[str, ...] = ()
    case: Case | None = None


@dataclass(frozen=True, slots=True)
class CrossingCell:
    """One test beside one candidate: stored, asked for, or neither. `own`: it was written for this one.

    `case` is the one whose recorded run it is, `run` the writer's own one.
    """

    wanted: Wanted
    own: bool
    execution: Execution | None = None
    trial: Trial | None = None
    case: int | None = None
    run: ExecutionRequest | None = None

    @property
    def outcome(self) -> Outcome | None:
        return Outcome(self.execution.outcome) if self.execution else None

    @property
    def is_open(self) -> bool:
        return self.execution is None and self.trial is not None and self.trial.is_open

    @property
    def is_missing(self) -> bool:
        """Whether nobody has asked for it, or it could not be run."""
        return self.execution is None and not self.is_open


@dataclass(frozen=True, slots=True)
class CrossingRow:
    """One test and its cells, in the order of the candidates."""

    test: Test
    cells: tuple[CrossingCell, ...]
    mark: Mark | None


@dataclass(frozen=True, slots=True)
class Grid:
    """Tests down, candidates across; `more_tests` and `more_candidates` are left out."""

    candidates: tuple[Candidate, ...]
    rows: tuple[CrossingRow, ...]
    more_tests: int = 0
    more_candidates: int = 0

    @property
    def missing(self) -> list[Wanted]:
        return [cell.wanted for row in self.rows for cell in row.cells if cell.is_missing]

    @property
    def open(self) -> int:
        return sum(cell.is_open for row in self.rows for cell in row.cells)

    @property
    def cells(self) -> int:
        return len(self.rows) * len(self.candidates)

    @property
    def next_runs(self) -> int:
        """How many runs a request asks for at most."""
        return min(MOST_RUNS, settings.RUNS_PER_MINUTE, len(self.missing))


def build_crossing_grid(tests: Sequence[Test], candidates: Sequence[Candidate]) -> Grid:
    """What is known of these tests beside these candidates, the first of each. Programs with their pairs."""
    shown, beside = tests[:MOST_TESTS], candidates[:MOST_CANDIDATES]
    stored, ran = stored_trials(shown, beside), own_runs(shown)
    rows = tuple(build_crossing_row(test, beside, stored, ran.get(test.program.pk)) for test in shown)
    return Grid(tuple(beside), rows, len(tests) - len(shown), len(candidates) - len(beside))


def stored_trials(tests: Sequence[Test], candidates: Sequence[Candidate]) -> dict[tuple[int, int], Trial]:
    """By (program, snippet): the latest trial. One query."""
    rows = Trial.objects.filter(
        program__in=[test.program.pk for test in tests],
        snippet__in=[candidate.snippet.pk for candidate in candidates],
        mutant=None,
    )
    return {(row.program_id, row.snippet_id): row for row in rows.select_related("execution").order_by("id")}


def own_runs(tests: Sequence[Test]) -> dict[int, ExecutionRequest]:
    """By program: the last run beside the candidate that it was written for. One query."""
    ran = ExecutionRequest.objects.filter(
        program__in=[test.program.pk for test in tests], execution__isnull=False
    )
    return {row.program_id: row for row in ran.select_related("execution").order_by("id")}


def build_crossing_row(
    test: Test,
    candidates: Sequence[Candidate],
    stored: Mapping[tuple[int, int], Trial],
    ran: ExecutionRequest | None,
) -> CrossingRow:
    program = test.program.pk
    cells = tuple(
        cell_of(test, candidate, stored.get((program, candidate.snippet.pk)), ran) for candidate in candidates
    )
    return CrossingRow(test, cells, mark_of(cells, candidates))


def cell_of(
    test: Test, candidate: Candidate, trial: Trial | None, ran: ExecutionRequest | None
) -> CrossingCell:
    own = test.program.pair.snippet_id == candidate.snippet.pk
    needed = tuple(sorted({*test.dependencies, *candidate.dependencies}))
    wanted = Wanted(test.program, candidate.snippet, test.dependencies if own else needed)
    case = candidate.case
    if case is not None and case.program_id == test.program.pk and case.execution is not None:
        return CrossingCell(wanted, own, case.execution, case=case.pk)
    if own and ran is not None and (trial is None or trial.execution is None):
        return CrossingCell(wanted, own, ran.execution, run=ran)
    return CrossingCell(wanted, own, trial.execution if trial else None, trial)


def mark_of(cells: Sequence[CrossingCell], candidates: Sequence[Candidate]) -> Mark | None:
    """Wrong: every match to which it applies fails it. Empty: all hold, and not all of them are matches.

    None while a cell is not known, or where it applies to too few to tell.
    """
    if any(cell.outcome is None for cell in cells):
        return None
    said = [
        (candidate.accepted, cell.outcome)
        for cell, candidate in zip(cells, candidates, strict=True)
        if cell.outcome in FAILS | HOLDS
    ]
    matches = [outcome for accepted, outcome in said if accepted]
    if matches and all(outcome in FAILS for outcome in matches):
        return Mark.WRONG
    if len(said) > len(matches) and len(said) > 1 and all(outcome in HOLDS for _, outcome in said):
        return Mark.EMPTY
    return None


def ask_grid(user: User, wanted: Grid) -> int:
    """Ask for what the grid lacks, while at most MOST_RUNS wait for the person; returns how many are new.

    As many as the minute has room for: the rest is asked for by another request. Raises TooManyWaiting.
    """
    waiting = open_trials(user).filter(mutant=None).count()
    if waiting >= MOST_RUNS:
        raise TooManyWaiting(
            f"{waiting:,} runs that you started are still waiting. Try again when they are done."
        )
    room = pace.remaining_rate_limit(user.pk) or 1  # without any, that one is refused with the time to wait
    return request_trials(user, wanted.missing[: min(MOST_RUNS - waiting, room)])


def of_query(build: Build, query: Text) -> Grid:
    """The tests and candidates of one query in a build: those of its first round, by rank."""
    related = "pair__snippet__body", "execution", "program"
    cases = list(
        Case.objects.filter(build=build, query=query, round=1).select_related(*related).order_by("rank")
    )
    said = accepted_by_people(cases)
    candidates = [
        Candidate(case.pair.snippet, said.get(case.pair_id, case.label) == 1, tuple(case.dependencies), case)
        for case in cases
    ]
    return build_crossing_grid(tests_of(build, cases), candidates)


def accepted_by_people(cases: Iterable[Case]) -> dict[int, int | None]:
    """By pair: the label that an expert gave last, where one did."""
    reviews = Review.objects.current().filter(pair__in={case.pair_id for case in cases}, label__isnull=False)
    return dict(reviews.order_by("id").values_list("pair", "label"))


def tests_of(build: Build, cases: Sequence[Case]) -> list[Test]:
    """The agents' tests of the build by rank of their candidate, then people's own on its pairs, the newest
    first: whoever writes many pushes none of the agents' out of a bounded table.

    A text is there once for each candidate that it was written for. What raters wrote in studies is not.
    """
    by_pair = {case.pair_id: case for case in cases}
    programs = TestProgram.objects.filter(pair__in=by_pair, assignment=None)
    written = programs.filter(Q(cases__build=build) | Q(author__isnull=False)).distinct()
    found: dict[tuple[str, str], Test] = {}
    rows = written.select_related("pair__snippet__body", "author", "source").order_by("id")
    for program in sorted(rows, key=lambda row: place_of(row, by_pair[row.pair_id].rank)):
        needed = tuple(by_pair[program.pair_id].dependencies)
        found.setdefault((program.source_id, program.pair.snippet.digest), Test(program, needed))
    return list(found.values())


def place_of(program: TestProgram, rank: int) -> tuple[int, int]:
    return (1, -program.pk) if program.author_id else (0, rank)
