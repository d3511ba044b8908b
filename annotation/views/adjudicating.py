"""Decisions on pairs on which raters split, and the list of precedents."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import tasks
from annotation.access import Role, needs
from annotation.models import Condition, Study, StudyPair
from annotation.pages import adjudicating as pages
from annotation.pages import precedents as precedent_pages
from annotation.pages import split_lists
from annotation.pages.adjudicating import Sent
from annotation.pages.paging import whole_number
from annotation.review.crossing import TooManyWaiting, ask_grid
from annotation.seen import mark_seen, sides
from annotation.studies import adjudicating
from annotation.studies.precedents import pairs_of
from annotation.views.review import is_fragment, number, person

RELATED = "study__guideline", "pair__query__body", "pair__snippet__body", "other__snippet__body"


@needs(Role.EXPERT)
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The studies with how many pairs wait for a decision."""
    page = split_lists.studies_page(person(request), request.GET)
    return render(request, "annotation/adjudication.html", {"page": page})


@needs(Role.EXPERT)
@require_safe
def queue(request: HttpRequest, study_pk: int) -> HttpResponse:
    """One study's pairs without a majority, the lowest agreement first: a list of how they were rated."""
    study = open_study(request, study_pk)
    page = split_lists.queue_page(study, person(request))
    shown = [line.number for line in (*page.waiting, *page.decided)]
    mark_seen(request.user, sides(study.pairs.filter(number__in=shown)))
    return render(request, "annotation/adjudication_queue.html", {"page": page})


@needs(Role.EXPERT)
@require_http_methods(["GET", "HEAD", "POST"])
def pair(request: HttpRequest, study_pk: int, pair_number: int, condition_pk: int) -> HttpResponse:
    """One pair with what its raters did; a POST stores a decision."""
    found, condition = open_pair(request, study_pk, pair_number, condition_pk)
    if request.method != "POST":
        page = pages.pair_page(found, condition)
        name = (
            "annotation/_adjudication_runs.html"
            if is_fragment(request)
            else "annotation/adjudication_pair.html"
        )
        return render(request, name, {"page": page})
    sent = request.POST
    said = Sent(sent.get("value", ""), sent.get("cause", ""), sent.get("note", ""), "precedent" in sent)
    try:
        decision = adjudicating.Decision(value_of(said.value), said.cause, said.note, said.precedent)
        adjudicating.decide(person(request), found, condition, decision, number(sent, "seen"))
    except adjudicating.AdjudicatedMeanwhile as why:
        return again(request, found, condition, said, str(why), 409)
    except adjudicating.BadAdjudication as why:
        return again(request, found, condition, said, str(why), 422)
    messages.success(request, f"Pair {pair_number} is decided. The ratings stay what they are.")
    return HttpResponseRedirect(reverse("adjudication-queue", args=[study_pk]))


@needs(Role.EXPERT)
@require_POST
def run(request: HttpRequest, study_pk: int, pair_number: int, condition_pk: int) -> HttpResponse:
    """Run the raters' tests beside the candidate, where that is not stored."""
    found, condition = open_pair(request, study_pk, pair_number, condition_pk)
    grid = adjudicating.table(found, adjudicating.voters_of(found, condition))
    try:
        ask_grid(person(request), grid)
    except TooManyWaiting as why:
        messages.error(request, str(why))
    else:
        tasks.wake()
    return HttpResponseRedirect(reverse("adjudication-pair", args=[study_pk, pair_number, condition_pk]))


@needs(Role.EXPERT)
@require_safe
def precedents(request: HttpRequest) -> HttpResponse:
    """Decisions on hard cases, searched by words and by guidelines."""
    page = precedent_pages.precedents_page(person(request), request.GET)
    mark_seen(request.user, pairs_of([row.pk for row in page.rows]))
    return render(request, "annotation/precedents.html", {"page": page})


def open_study(request: HttpRequest, pk: int) -> Study:
    """A study that was begun. Raises PermissionDenied to those who are kept blind in it."""
    begun = Study.objects.exclude(state=Study.State.DRAFT).exclude(kind=Study.Kind.IMPORTED)
    study = get_object_or_404(begun, pk=pk)
    closed = adjudicating.may_adjudicate(person(request), study)
    if closed:
        raise PermissionDenied(closed)
    return study


def open_pair(
    request: HttpRequest, study_pk: int, pair_number: int, condition_pk: int
) -> tuple[StudyPair, Condition]:
    """A pair and condition of a study. Raises PermissionDenied to those who rated the pair.

    Whoever looks at what others said of a pair can't rate it any more.
    """
    study = open_study(request, study_pk)
    sampled = StudyPair.objects.filter(planted="").select_related(*RELATED)
    found = get_object_or_404(sampled, study=study, number=whole_number(str(pair_number)))
    condition = get_object_or_404(Condition, study=study, pk=condition_pk)
    closed = adjudicating.may_adjudicate(person(request), study, found.pair)
    if closed:
        raise PermissionDenied(closed)
    mark_seen(request.user, sides(StudyPair.objects.filter(pk=found.pk)))
    return found, condition


def value_of(text: str) -> int | None:
    """The value that a form sent, "none" for none. Raises BadAdjudication."""
    if text == "none":
        return None
    try:
        return int(text[:3])
    except ValueError:
        raise adjudicating.BadAdjudication("Choose what was decided.") from None


def again(
    request: HttpRequest, found: StudyPair, condition: Condition, said: Sent, problem: str, status: int
) -> HttpResponse:
    shown = Sent(said.value, said.cause, said.note, said.precedent, problem)
    page = pages.pair_page(found, condition, shown)
    return render(request, "annotation/adjudication_pair.html", {"page": page}, status=status)
