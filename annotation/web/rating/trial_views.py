"""What a rater's tests are worth: how strong they are, asked for one at a time."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.accounts.roles import Role, require_role
from annotation.jobs import celery_tasks
from annotation.models import Assignment, TestProgram
from annotation.review.own_tests import TooManyWaiting
from annotation.review.strength import NothingToChange
from annotation.studies.exposure import mark_test_seen
from annotation.studies.rating import test_strength
from annotation.studies.rating.runs import NotNow
from annotation.web.rating.test_strength import strength_page, trial_page
from annotation.web.rating.views import own_assignment
from annotation.web.review.keys import key_views
from annotation.web.review.pace_limits import mark_rate_limited
from annotation.web.review.views import is_fragment, person

FRAGMENT = "annotation/executions/_strength.html"


@require_role(Role.EXPERT)
@require_http_methods(["GET", "HEAD", "POST"])
def strength(request: HttpRequest, study_pk: int, number: int, pk: int) -> HttpResponse:
    """How strong one test is; a POST asks for its runs beside mutants of its candidate."""
    found = own_assignment(request, study_pk, number)
    program = get_object_or_404(test_strength.programs_shown(found), pk=pk)
    note_seen(found, program)
    refused = asked(found, program) if request.method == "POST" else None
    if request.method == "POST" and refused is None and not is_fragment(request):
        return HttpResponseRedirect(request.path)
    page = strength_page(found, program, key_views(person(request)), str(refused or ""))
    if is_fragment(request):
        return mark_rate_limited(render(request, FRAGMENT, {"view": page.view}), refused)
    status = 422 if refused else 200
    return mark_rate_limited(
        render(request, "annotation/cases/strength.html", {"page": page}, status=status), refused
    )


@require_role(Role.EXPERT)
@require_safe
def trial(request: HttpRequest, study_pk: int, number: int, pk: int) -> HttpResponse:
    """One run of a test beside a mutant, or beside the candidate itself."""
    found = own_assignment(request, study_pk, number)
    one = get_object_or_404(test_strength.trials_shown(found), pk=pk)
    note_seen(found, one.program)
    return render(request, "annotation/cases/trial.html", {"page": trial_page(found, one)})


def asked(found: Assignment, program: TestProgram) -> Exception | None:
    """Why the runs can't be asked for; None where they are."""
    try:
        test_strength.request_strength_runs(found, program)
    except (NotNow, NothingToChange, TooManyWaiting) as why:
        return why
    celery_tasks.wake()
    return None


def note_seen(found: Assignment, program: TestProgram) -> None:
    """Whoever is shown the agents' test has seen the pair."""
    if not test_strength.is_own(found, program):
        mark_test_seen(found.rater, program.pair_id)
