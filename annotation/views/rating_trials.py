"""What a rater's tests are worth: how strong they are, asked for one at a time."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation import tasks
from annotation.access import Role, needs
from annotation.models import Assignment, TestProgram
from annotation.pages import rating_strength as pages
from annotation.pages.review_keys import key_views
from annotation.seen import mark_test_seen
from annotation.studies import trying
from annotation.views.pacing import paced
from annotation.views.rating_pages import own_assignment
from annotation.views.review import is_fragment, person

FRAGMENT = "annotation/_strength.html"


@needs(Role.EXPERT)
@require_http_methods(["GET", "HEAD", "POST"])
def strength(request: HttpRequest, study_pk: int, number: int, pk: int) -> HttpResponse:
    """How strong one test is; a POST asks for its runs beside mutants of its candidate."""
    found = own_assignment(request, study_pk, number)
    program = get_object_or_404(trying.programs_shown(found), pk=pk)
    note_seen(found, program)
    refused = asked(found, program) if request.method == "POST" else None
    if request.method == "POST" and refused is None and not is_fragment(request):
        return HttpResponseRedirect(request.path)
    page = pages.strength_page(found, program, key_views(person(request)), str(refused or ""))
    if is_fragment(request):
        return paced(render(request, FRAGMENT, {"view": page.view}), refused)
    status = 422 if refused else 200
    return paced(render(request, "annotation/strength.html", {"page": page}, status=status), refused)


@needs(Role.EXPERT)
@require_safe
def trial(request: HttpRequest, study_pk: int, number: int, pk: int) -> HttpResponse:
    """One run of a test beside a mutant, or beside the candidate itself."""
    found = own_assignment(request, study_pk, number)
    one = get_object_or_404(trying.trials_shown(found), pk=pk)
    note_seen(found, one.program)
    return render(request, "annotation/trial.html", {"page": pages.trial_page(found, one)})


def asked(found: Assignment, program: TestProgram) -> Exception | None:
    """Why the runs can't be asked for; None where they are."""
    try:
        trying.ask(found, program)
    except (trying.NotNow, trying.NothingToChange, trying.TooManyWaiting) as why:
        return why
    tasks.wake()
    return None


def note_seen(found: Assignment, program: TestProgram) -> None:
    """Whoever is shown the agents' test has seen the pair."""
    if not trying.is_own(found, program):
        mark_test_seen(found.rater, program.pair_id)
