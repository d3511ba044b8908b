"""How strong a test is, and single runs of it, on a rater's pages: as much of test and code as those show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from annotation.models import Assignment, TestProgram, Trial
from annotation.studies.rating import shown_pair, test_strength
from annotation.studies.rating.leaky_tests import Hushed, redact_leaky_test
from annotation.studies.rating.shown_pair import SnippetSide
from annotation.web.cases.code import Code
from annotation.web.cases.evidence import ExecutionView, ProgramView, execution_view, program_view
from annotation.web.cases.test_strength import (
    Back,
    StrengthPage,
    StrengthPlaces,
    TrialPage,
    fault_of,
    strength_views,
    trial_sign,
)
from annotation.web.rating.agents import candidate_side, prefix_of, silent_view
from annotation.web.rating.runs import pair_url
from annotation.web.review.keys import KeyView
from sandbox.reports.report import Report

PLACE: Final = "Rate"


def strength_page(
    assignment: Assignment, program: TestProgram, keys: Mapping[str, KeyView], problem: str = ""
) -> StrengthPage:
    """The page of one of `test_strength.programs_shown`."""
    side = side_of(assignment, program)
    places = places_of(assignment, side)
    return StrengthPage(
        view=strength_views([program], keys, problem, places)[program.pk],
        program=program_shown(assignment, program),
        candidate=candidate_side(side),
        query=assignment.study_pair.pair.query.head,
        place=PLACE,
        back=back_to(assignment),
    )


def trial_page(assignment: Assignment, trial: Trial) -> TrialPage:
    """The page of one of `test_strength.trials_shown`."""
    side = side_of(assignment, trial.program)
    report = report_shown(assignment, trial)
    return TrialPage(
        query=assignment.study_pair.pair.query.head,
        place=PLACE,
        sign=trial_sign(trial),
        open=trial.is_open,
        message=trial.message,
        program=program_shown(assignment, trial.program, report),
        candidate=candidate_of(assignment, side, trial, report),
        execution=execution_shown(trial, report, side),
        fault=fault_of(trial, places_of(assignment, side)),
        applied_as="",
        back=back_to(assignment),
    )


def places_of(assignment: Assignment, side: SnippetSide) -> StrengthPlaces:
    """All under the pair's own address."""
    return StrengthPlaces(
        strength=partial(pair_url, "rate-strength", assignment),
        trial=partial(pair_url, "rate-trial", assignment),
        lines=prefix_of(side),
        place=PLACE,
    )


def side_of(assignment: Assignment, program: TestProgram) -> SnippetSide:
    return next(side for side in shown_pair.sides_of(assignment) if side.pair.pk == program.pair_id)


def back_to(assignment: Assignment) -> Back:
    return Back(pair_url("rate-pair", assignment), "Back to the pair")


def hide_verdict_hints(assignment: Assignment, program: TestProgram) -> Hushed | None:
    """The program without what tells its writer's verdict; None where it is shown as it is."""
    if test_strength.is_own(assignment, program) or not shown_pair.shows_test(assignment):
        return None
    return redact_leaky_test(program.source.text, program.pair.snippet.text)


def report_shown(assignment: Assignment, trial: Trial) -> Report | None:
    report = trial.execution.whole_report() if trial.execution else None
    quiet = hide_verdict_hints(assignment, trial.program)
    return quiet.report(report) if quiet and report else report


def program_shown(assignment: Assignment, program: TestProgram, report: Report | None = None) -> ProgramView:
    quiet = hide_verdict_hints(assignment, program)
    return silent_view(program, quiet, report) if quiet else program_view(program, report)


def candidate_of(assignment: Assignment, side: SnippetSide, trial: Trial, report: Report | None) -> Code:
    """The snippet, or the one with the fault beside which the test ran."""
    if trial.mutant is None:
        return candidate_side(side, report)
    docstring = assignment.enrolment.study.docstring
    return candidate_side(shown_pair.beside_a_fault(side, docstring, trial.candidate), report)


def execution_shown(trial: Trial, report: Report | None, side: SnippetSide) -> ExecutionView | None:
    """Time and number are those of the rater's own run: another one may have been there before."""
    if trial.execution is None:
        return None
    made = execution_view(trial.execution, report, candidate=prefix_of(side))
    return replace(made, repeat=1, at=trial.created_at)
