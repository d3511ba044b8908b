"""Decisions on pairs on which raters split, and precedents. For experts."""

from __future__ import annotations

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router, Status

from annotation.accounts.roles import Role
from annotation.api.review.own_runs import crossing_out
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.jobs.wake_up import wake_workers
from annotation.models import Adjudication, Condition, Precedent, StudyPair
from annotation.review.own_runs.cross_tests import ask_grid
from annotation.schemas.review.own_runs import CrossingOut
from annotation.schemas.studies.adjudication import DecisionIn, DecisionOut, PrecedentOut, SplitOut, SplitPage
from annotation.studies.adjudication import decisions
from annotation.studies.adjudication.precedents import pairs_of_precedents, search_precedents
from annotation.studies.exposure import mark_seen, pairs_of_study_rows
from annotation.web.studies.adjudication_views import open_pair
from annotation.web.studies.split_pairs import open_study
from retrieval.schemas import Id, Page, Paging

router = Router(tags=["studies"], auth=signed_in(Role.EXPERT))
MOST_CONDITIONS = 8
"""More than a study has: a cursor is a pair's id times this, and the place of the condition."""


@router.get("/studies/{int:pk}/decisions", response=Page[SplitOut])
def list_decisions(request: HttpRequest, pk: Path[Id], wanted: Query[SplitPage]) -> Page[SplitOut]:
    """The pairs without a strict majority, the lowest agreement first, with the decision that stands."""
    study = open_study(visible.caller(request), pk)
    found = decisions.load_split_pairs(study)
    shown = StudyPair.objects.filter(pk__in=[pair.study_pair for pair in found])
    mark_seen(request.user, pairs_of_study_rows(shown))  # their order tells of those on other pages
    kept = [pair for pair in found if wanted.state in (None, "decided" if pair.decision else "waiting")]
    conditions = list(study.conditions.order_by("pk").values_list("pk", flat=True))
    keys = [pair.study_pair * MOST_CONDITIONS + conditions.index(pair.condition) for pair in kept]
    start = keys.index(wanted.after) + 1 if wanted.after in keys else 0
    some = slice(start, start + wanted.limit)
    more = len(kept) > start + wanted.limit
    items = [SplitOut.model_validate(pair) for pair in kept[some]]
    return Page(items=items, next=keys[some][-1] if more else None)


@router.post(
    "/studies/{int:pk}/pairs/{int:number}/conditions/{int:condition}/decisions", response={201: DecisionOut}
)
def decide_pair(
    request: HttpRequest, pk: Path[Id], number: Path[Id], condition: Path[Id], said: DecisionIn
) -> Status[Adjudication]:
    """Decide on a pair, over the decision `seen`; whoever rated the pair can't."""
    study = open_study(visible.caller(request), pk)
    related = "study__guideline", "pair__query__body", "pair__snippet__body"
    pair = get_object_or_404(
        StudyPair.objects.select_related(*related), study=study, number=number, planted=""
    )
    rated_as = get_object_or_404(Condition, study=study, pk=condition)
    decision = decisions.AdjudicationDecision(said.value, said.cause, said.note, said.precedent, said.lines)
    made = decisions.store_decision(visible.caller(request), pair, rated_as, decision, said.seen)
    mark_seen(request.user, pairs_of_study_rows(StudyPair.objects.filter(pk=pair.pk)))
    return Status(201, made)


@router.post(
    "/studies/{int:pk}/pairs/{int:number}/conditions/{int:condition}/tests", response={201: CrossingOut}
)
def run_raters_tests(
    request: HttpRequest, pk: Path[Id], number: Path[Id], condition: Path[Id]
) -> Status[CrossingOut]:
    """Run the raters' tests of a split pair beside its function; whoever rated the pair can't."""
    found, rated_as = open_pair(request, pk, number, condition)
    voters = decisions.voters_of(found, rated_as)
    ask_grid(visible.caller(request), decisions.build_adjudication_grid(found, voters))
    wake_workers()
    return Status(201, crossing_out(decisions.build_adjudication_grid(found, voters)))


@router.get("/precedents", response=Page[PrecedentOut])
def list_precedents(
    request: HttpRequest, wanted: Query[Paging], q: str = "", guidelines: str = ""
) -> Page[Precedent]:
    """Decisions on hard cases, the oldest first; each word of `q` is in query, code, reason or tags."""
    rows = search_precedents(visible.caller(request), q, guidelines).filter(pk__gt=wanted.after or 0)
    page = wanted.page(rows.order_by("pk"))
    mark_seen(request.user, pairs_of_precedents([row.pk for row in page.items]))
    return page
