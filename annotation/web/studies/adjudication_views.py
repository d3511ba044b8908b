"""Decisions on pairs on which raters split, and the list of precedents."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation.accounts.roles import FORM, GET, POST, Role, require_role
from annotation.jobs.wake_up import wake_workers
from annotation.models import Condition, StudyPair
from annotation.review.own_runs.cross_tests import ask_grid
from annotation.review.own_runs.own_tests import TooManyWaiting
from annotation.studies.adjudication import decisions
from annotation.studies.adjudication.precedents import pairs_of_precedents
from annotation.studies.exposure import mark_seen, pairs_of_study_rows
from annotation.web.review.keys import key_views
from annotation.web.shared.pagination import whole_number
from annotation.web.shared.requests import is_fragment, number, person, say_refusals
from annotation.web.studies import adjudication, split_pairs
from annotation.web.studies.precedents import precedents_page

RELATED = "study__guideline", "pair__query__body", "pair__snippet__body", "other__snippet__body"


@require_role(Role.EXPERT, GET)
def queue(request: HttpRequest, study_pk: int) -> HttpResponse:
    """One study's pairs without a majority, the lowest agreement first: a list of how they were rated.

    With `next` in the address it leads to the first of them that waits for this person, if there is one.
    """
    study = split_pairs.open_study(person(request), study_pk)
    first = split_pairs.first_waiting(study, person(request)) if "next" in request.GET else None
    if first is not None:
        return redirect("adjudication-pair", study.pk, first.number, first.condition)
    page = split_pairs.queue_page(study, person(request))
    shown = [line["number"] for line in (*page["waiting"], *page["decided"])]
    mark_seen(request.user, pairs_of_study_rows(study.pairs.filter(number__in=shown)))
    return render(request, "annotation/studies/adjudication_queue.html", {"page": page})


@require_role(Role.EXPERT, FORM)
def pair(request: HttpRequest, study_pk: int, pair_number: int, condition_pk: int) -> HttpResponse:
    """One pair with what its raters did; a POST stores a decision."""
    found, condition = open_pair(request, study_pk, pair_number, condition_pk)
    keys = key_views(person(request))
    if request.method != "POST":
        page = adjudication.pair_page(found, condition, keys)
        name = (
            "annotation/studies/_adjudication_runs.html"
            if is_fragment(request)
            else "annotation/studies/adjudication_pair.html"
        )
        return render(request, name, {"page": page})
    try:
        decisions.store_decision(
            person(request), found, condition, decision_in(request.POST), number(request.POST, "seen")
        )
    except (decisions.AdjudicatedMeanwhile, decisions.BadAdjudication) as why:
        page = adjudication.pair_page(found, condition, keys, request.POST, str(why))
        status = 409 if isinstance(why, decisions.AdjudicatedMeanwhile) else 422
        return render(request, "annotation/studies/adjudication_pair.html", {"page": page}, status=status)
    messages.success(request, f"Pair {pair_number} is decided. The ratings stay what they are.")
    return HttpResponseRedirect(reverse("adjudication-queue", args=[study_pk], query={"next": "yes"}))


@require_role(Role.EXPERT, POST)
def run_rater_tests(request: HttpRequest, study_pk: int, pair_number: int, condition_pk: int) -> HttpResponse:
    """Run the raters' tests beside the candidate, where that is not stored."""
    found, condition = open_pair(request, study_pk, pair_number, condition_pk)
    grid = decisions.build_adjudication_grid(found, decisions.voters_of(found, condition))
    with say_refusals(request, TooManyWaiting):
        ask_grid(person(request), grid)
        wake_workers()
    return HttpResponseRedirect(reverse("adjudication-pair", args=[study_pk, pair_number, condition_pk]))


@require_role(Role.EXPERT, GET)
def precedents(request: HttpRequest) -> HttpResponse:
    """Decisions on hard cases, searched by words and by guidelines."""
    page = precedents_page(person(request), request.GET)
    mark_seen(request.user, pairs_of_precedents([row.pk for row, *_ in page["rows"]]))
    return render(request, "annotation/studies/precedents.html", {"page": page})


def open_pair(
    request: HttpRequest, study_pk: int, pair_number: int, condition_pk: int
) -> tuple[StudyPair, Condition]:
    """A pair and condition of a study. Raises MayNotAdjudicate to those who rated the pair.

    Whoever looks at what others said of a pair can't rate it any more.
    """
    study = split_pairs.open_study(person(request), study_pk)
    sampled = StudyPair.objects.filter(planted="").select_related(*RELATED)
    found = get_object_or_404(sampled, study=study, number=whole_number(str(pair_number)))
    condition = get_object_or_404(Condition, study=study, pk=condition_pk)
    decisions.refuse_adjudication(person(request), study, found.pair)
    mark_seen(request.user, pairs_of_study_rows(StudyPair.objects.filter(pk=found.pk)))
    return found, condition


def decision_in(sent: QueryDict) -> decisions.AdjudicationDecision:
    """What a form sent; its value is "none" for none. Raises BadAdjudication."""
    text = sent.get("value", "")
    try:
        value = None if text == "none" else int(text[:3])
    except ValueError:
        raise decisions.BadAdjudication("Choose what was decided.") from None
    return decisions.AdjudicationDecision(
        value, sent.get("cause", ""), sent.get("note", ""), "precedent" in sent, sent.get("lines", "")
    )
