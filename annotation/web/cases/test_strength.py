"""How strong a test is, as the pages that show the test say it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from annotation.models import TestProgram, Trial
from annotation.review.own_runs.strength import Strength, Try, load_test_strengths
from annotation.web.cases.code import Code, build_line_anchor
from annotation.web.cases.evidence import (
    ExecutionView,
    ProgramView,
    candidate_code,
    execution_view,
    program_view,
)
from annotation.web.cases.traces import shorten_trace_value
from annotation.web.review.keys import NO_KEY, KeyView, key_views
from annotation.web.review.runs import NOBODY_CAME, STATES
from annotation.web.shared.words import OUTCOMES, Sign
from sandbox.reports.report import Outcome

CAUGHT: Final = Sign("✓", "caught", "good")
MISSED: Final = Sign("✗", "not caught", "bad")
NOT_TRIED: Final = Sign("?", "not tried")


@dataclass(frozen=True, slots=True)
class StrengthPlaces:
    """Where the strength of a test is found out, and where a run of it is shown, by their ids.

    `lines` is the prefix of the candidate's lines on the page; `place` is the part of the site.
    """

    strength: Callable[[int], str]
    trial: Callable[[int], str]
    lines: str = "c"
    place: str = "Review"


OF_REVIEW: Final = StrengthPlaces(
    strength=lambda pk: reverse("review-strength", args=[pk]),
    trial=lambda pk: reverse("review-trial", args=[pk]),
)


@dataclass(frozen=True, slots=True)
class Back:
    """The page that another one belongs to."""

    url: str
    word: str


@dataclass(frozen=True, slots=True)
class MutantView:
    """One fault: what was changed in which line, how the test ended, and whether that tells the two apart."""

    href: str
    operator: str
    line: int
    line_href: str
    before: str
    after: str
    sign: Sign
    outcome: Sign
    message: str


@dataclass(frozen=True, slots=True)
class StrengthView:
    """The strength of one test. `whole` is how it ended beside the candidate itself, None if not known."""

    program: int
    url: str
    asked: bool
    open: int
    caught: int
    tried: int
    whole: Sign | None
    passes: bool
    mutants: tuple[MutantView, ...]
    key: KeyView = NO_KEY
    nobody_came: bool = False
    problem: str = ""

    @property
    def done(self) -> int:
        """Runs that are over, of those beside mutants and the candidate itself."""
        return self.runs - self.open

    @property
    def runs(self) -> int:
        return len(self.mutants) + 1

    @property
    def meaning(self) -> str:
        """What that says of a green result."""
        if not self.passes:
            return "It fails on the original code, so what it catches says little."
        if self.caught == 0:
            return "That it passes says nothing of what the code does."
        if self.caught == self.tried:
            return "That it passes means something."
        return "It missed some bugs, though a missed bug may be harmless."


@dataclass(frozen=True, slots=True)
class StrengthPage:
    """A test with its strength, on a page of its own. `back`: what it belongs to, if there is that."""

    view: StrengthView
    program: ProgramView
    candidate: Code
    query: str
    place: str
    back: Back | None


@dataclass(frozen=True, slots=True)
class TrialPage:
    """One run: a test beside another candidate, or beside a mutant."""

    query: str
    place: str
    sign: Sign
    open: bool
    message: str
    program: ProgramView
    candidate: Code
    execution: ExecutionView | None
    fault: MutantView | None
    applied_as: str
    back: Back | None = None


def strength_views(
    programs: Iterable[TestProgram],
    keys: Mapping[str, KeyView] | None = None,
    problem: str = "",
    places: StrengthPlaces = OF_REVIEW,
) -> dict[int, StrengthView]:
    """By program; the first one of them has the key. One query."""
    shown = list(programs)
    found = load_test_strengths(shown)
    views = {}
    for number, program in enumerate(shown):
        key = keys["strength"] if keys and not number else NO_KEY
        views[program.pk] = strength_view(program.pk, found[program.pk], places, key, problem)
    return views


def strength_view(
    program: int, known: Strength, places: StrengthPlaces, key: KeyView = NO_KEY, problem: str = ""
) -> StrengthView:
    whole = known.whole.execution if known.whole else None
    return StrengthView(
        program=program,
        url=places.strength(program),
        asked=known.asked,
        open=known.open,
        caught=known.caught,
        tried=known.tried,
        whole=OUTCOMES[Outcome(whole.outcome)] if whole else None,
        passes=whole is not None and whole.outcome == Outcome.PASSED,
        mutants=tuple(mutant_view(tried, places) for tried in known.tries),
        key=key,
        nobody_came=any(is_forgotten(tried.trial) for tried in known.tries),
        problem=problem,
    )


def is_forgotten(trial: Trial) -> bool:
    """Whether no worker has taken it for longer than people should wait unsaid."""
    late = timezone.now() - trial.created_at > NOBODY_CAME
    return late and trial.state == Trial.State.WAITING


def mutant_view(tried: Try, places: StrengthPlaces = OF_REVIEW) -> MutantView:
    caught = tried.caught
    return MutantView(
        href=places.trial(tried.trial.pk),
        operator=tried.mutant.operator,
        line=tried.mutant.line,
        line_href="#" + build_line_anchor(places.lines, tried.mutant.line),
        before=shorten_trace_value(tried.mutant.before),
        after=shorten_trace_value(tried.mutant.after),
        sign=NOT_TRIED if caught is None else CAUGHT if caught else MISSED,
        outcome=trial_sign(tried.trial),
        message=tried.trial.message,
    )


def trial_sign(trial: Trial) -> Sign:
    """How it ended, else how far it is."""
    return OUTCOMES[Outcome(trial.execution.outcome)] if trial.execution else STATES[trial.state]


def strength_page(user: User, program: TestProgram, back: int | None, problem: str = "") -> StrengthPage:
    """The page of one test, read with its source, its author and its pair's texts; `back` is its case."""
    return StrengthPage(
        view=strength_views([program], key_views(user), problem)[program.pk],
        program=program_view(program),
        candidate=candidate_code(program.pair.snippet.text),
        query=program.pair.query.head,
        place=OF_REVIEW.place,
        back=Back(reverse("review-case", args=[back]), "Back to the pair") if back else None,
    )


def fault_of(trial: Trial, places: StrengthPlaces = OF_REVIEW) -> MutantView | None:
    """What was put into the candidate beside which it ran, if anything was."""
    return mutant_view(Try(trial, trial.mutant, None), places) if trial.mutant else None


def trial_page(trial: Trial) -> TrialPage:
    """The page of one run, read with its program, snippet, mutant and execution."""
    report = trial.execution.whole_report() if trial.execution else None
    return TrialPage(
        query=trial.program.pair.query.head,
        place=OF_REVIEW.place,
        sign=trial_sign(trial),
        open=trial.is_open,
        message=trial.message,
        program=program_view(trial.program, report),
        candidate=candidate_code(trial.candidate, report),
        execution=execution_view(trial.execution, report) if trial.execution else None,
        fault=fault_of(trial),
        applied_as=trial.applied_as,
    )
