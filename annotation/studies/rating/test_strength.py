"""How strong a test is, for a rater: one that they wrote, and the agents' where the page shows it."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from annotation.models import Assignment, TestProgram, Trial
from annotation.review.own_runs.strength import (
    ask_strength,
)
from annotation.studies.rating import runs, shown_pair


def programs_shown(assignment: Assignment) -> QuerySet[TestProgram]:
    """The rater's own programs for the pair and, where it is shown, the agents', with the pair's texts."""
    case = shown_pair.case_shown(assignment)
    theirs = Q(pk=case.program_id) if case and case.program_id else Q(pk__in=[])
    rows = TestProgram.objects.filter(Q(assignment=assignment) | theirs)
    return rows.select_related("source", "author", "pair__query", "pair__snippet__body")


def trials_shown(assignment: Assignment) -> QuerySet[Trial]:
    """The runs of those programs beside their own snippet and beside faults of it, with all that is shown."""
    rows = Trial.objects.filter(program__in=programs_shown(assignment).values("pk"), applied_as="")
    related = "program__source", "program__author", "program__pair__query", "mutant__source"
    return rows.select_related(*related, "program__pair__snippet__body", "execution__report")


def is_own(assignment: Assignment, program: TestProgram) -> bool:
    return program.assignment_id == assignment.pk


def request_strength_runs(assignment: Assignment, program: TestProgram) -> int:
    """Ask for the runs of one of `programs_shown`; returns how many are new.

    They need what the rater's own runs need: nothing that agents found, where nobody may know that they did.

    Raises NotNow, NothingToChange and TooManyWaiting.
    """
    runs.check_run_allowed(assignment)
    needed = runs.dependencies_for(assignment)
    return ask_strength(
        assignment.rater, program, needed, assignment if is_own(assignment, program) else None
    )
