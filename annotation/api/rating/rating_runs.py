"""What a rater runs for a pair of a study: own tests, calls, the strength of a test."""

from __future__ import annotations

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Router, Status

from annotation.accounts.roles import Role
from annotation.api.rating.rating import rating_out
from annotation.api.review.own_runs import own_call_out, own_run_out, strength_out
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.api.shared.form_refusals import InvalidValues
from annotation.jobs.wake_up import wake_workers
from annotation.models import Assignment, Rating, TestProgram
from annotation.review.own_runs.strength import load_test_strengths
from annotation.schemas.rating.rating import RatingOut
from annotation.schemas.review.own_runs import OwnCallOut, OwnRunOut, OwnTestIn, SideCallIn, StrengthOut
from annotation.schemas.review.reviews import RestoreIn
from annotation.studies.rating import earlier_revisions, runs, shown_pair, test_strength
from annotation.studies.rating.shown_pair import SnippetSide
from annotation.web.rating.views import note_test_seen
from retrieval.schemas import Id

router = Router(tags=["rating"], auth=signed_in(Role.EXPERT))


@router.post("/{int:study}/pairs/{int:number}/runs", response={201: OwnRunOut})
def run_rater_test(
    request: HttpRequest, study: Path[Id], number: Path[Id], wanted: OwnTestIn
) -> Status[OwnRunOut]:
    """Keep a test of your own for the pair and have it run. For its raters."""
    found = handed_pair(request, study, number)
    asked = runs.run_rater_test(found, side_named(found, wanted.side).pair, wanted.source)
    wake_workers()
    return Status(201, own_run_out(asked, in_study=True))


@router.get("/{int:study}/pairs/{int:number}/runs/{int:pk}", response=OwnRunOut)
def get_rater_run(request: HttpRequest, study: Path[Id], number: Path[Id], pk: Path[Id]) -> OwnRunOut:
    """The state of your run, and its report when it is done. For the study's raters."""
    found = handed_pair(request, study, number)
    return own_run_out(get_object_or_404(runs.own_runs(found), pk=pk), in_study=True)


@router.post("/{int:study}/pairs/{int:number}/calls", response={201: OwnCallOut})
def call_rated_function(
    request: HttpRequest, study: Path[Id], number: Path[Id], wanted: SideCallIn
) -> Status[OwnCallOut]:
    """Have an expression evaluated beside the pair's function. For its raters."""
    found = handed_pair(request, study, number)
    asked = runs.request_expression_call(found, side_named(found, wanted.side).pair, wanted.expression)
    wake_workers()
    return Status(201, own_call_out(asked))


@router.get("/{int:study}/pairs/{int:number}/calls/{int:pk}", response=OwnCallOut)
def get_rater_call(request: HttpRequest, study: Path[Id], number: Path[Id], pk: Path[Id]) -> OwnCallOut:
    """One of your calls, and its answer when there is one. For the study's raters."""
    found = handed_pair(request, study, number)
    return own_call_out(get_object_or_404(runs.rater_calls_of_assignment(found), pk=pk))


@router.get("/{int:study}/pairs/{int:number}/programs/{int:pk}/strength", response=StrengthOut)
def get_rater_strength(request: HttpRequest, study: Path[Id], number: Path[Id], pk: Path[Id]) -> StrengthOut:
    """How many planted bugs a test notices: yours, or one that the pair's page shows. For its raters."""
    _, program = shown_program(request, study, number, pk)
    return strength_out(program.pk, load_test_strengths([program])[program.pk])


@router.post("/{int:study}/pairs/{int:number}/programs/{int:pk}/strength", response={201: StrengthOut})
def check_rater_strength(
    request: HttpRequest, study: Path[Id], number: Path[Id], pk: Path[Id]
) -> Status[StrengthOut]:
    """Have such a test run beside planted bugs of the function. For its raters."""
    found, program = shown_program(request, study, number, pk)
    test_strength.request_strength_runs(found, program)
    wake_workers()
    return Status(201, strength_out(program.pk, load_test_strengths([program])[program.pk]))


@router.post("/{int:study}/pairs/{int:number}/ratings/{int:pk}/restore", response={201: RatingOut})
def restore_rating(
    request: HttpRequest, study: Path[Id], number: Path[Id], pk: Path[Id], said: RestoreIn
) -> Status[RatingOut]:
    """Let an earlier revision of your rating count again, as the next one. For its raters."""
    found = handed_pair(request, study, number)
    own = Rating.objects.filter(assignment__rater=found.rater, assignment__study_pair=found.study_pair)
    earlier = get_object_or_404(own, pk=pk)  # also what was said before the pair was asked again
    return Status(201, rating_out(earlier_revisions.restore_earlier_revision(earlier, said.seen_revision)))


def handed_pair(request: HttpRequest, study: int, number: int) -> Assignment:
    """The caller's assignment of the pair; of a pair that was asked again the last round. Raises Http404."""
    handed = shown_pair.assignments_of(visible.caller(request), study).filter(study_pair__number=number)
    return get_object_or_404(handed.select_related("rater").order_by("-round")[:1])


def side_named(found: Assignment, name: str) -> SnippetSide:
    """Raises InvalidValues where the pair has no such side."""
    sides = shown_pair.sides_of(found)
    names = [side.name for side in sides]
    if name not in names:
        raise InvalidValues([("side", f"Choose one of {', '.join(names)}." if names[0] else "Leave it out.")])
    return sides[names.index(name)]


def shown_program(request: HttpRequest, study: int, number: int, pk: int) -> tuple[Assignment, TestProgram]:
    """A test that the pair's page shows; who is shown the agents' has seen the pair. Raises Http404."""
    found = handed_pair(request, study, number)
    program = get_object_or_404(test_strength.programs_shown(found), pk=pk)
    note_test_seen(found, program)
    return found, program
