"""Decisions on pairs on which raters split, and precedents. For experts."""

from __future__ import annotations

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router, Status

from annotation.access import Role
from annotation.api import visible
from annotation.api.auth import signed_in
from annotation.models import Adjudication, Condition, Precedent, Study, StudyPair
from annotation.schemas.adjudicating import DecisionIn, DecisionOut, PrecedentOut, SplitOut, SplitsOut
from annotation.seen import mark_seen, sides
from annotation.studies import adjudicating
from annotation.studies.precedents import pairs_of, precedents
from retrieval.schemas import Id, Page, Paging, page_of

router = Router(tags=["studies"], auth=signed_in(Role.EXPERT))


@router.get("/studies/{int:pk}/decisions", response=SplitsOut)
def get_decisions(request: HttpRequest, pk: Path[Id]) -> SplitsOut:
    """The pairs without a strict majority, the lowest agreement first, with the decision that stands."""
    study = begun(request, pk)
    found = adjudicating.splits(study)
    shown = StudyPair.objects.filter(pk__in=[one.study_pair for one in found])
    mark_seen(request.user, sides(shown))
    return SplitsOut(
        study=study.pk,
        waiting=[split_out(one) for one in found if one.decision is None],
        decided=[split_out(one) for one in found if one.decision is not None],
    )


@router.post(
    "/studies/{int:pk}/pairs/{int:number}/conditions/{int:condition}/decisions", response={201: DecisionOut}
)
def decide_pair(
    request: HttpRequest, pk: Path[Id], number: Path[Id], condition: Path[Id], said: DecisionIn
) -> Status[DecisionOut]:
    """Decide on a pair, over the decision `seen`; whoever rated the pair can't."""
    study = begun(request, pk)
    related = "study__guideline", "pair__query__body", "pair__snippet__body"
    pair = get_object_or_404(
        StudyPair.objects.select_related(*related), study=study, number=number, planted=""
    )
    rated_as = get_object_or_404(Condition, study=study, pk=condition)
    decision = adjudicating.Decision(said.value, said.cause, said.note, said.precedent)
    made = adjudicating.decide(visible.caller(request), pair, rated_as, decision, said.seen)
    mark_seen(request.user, sides(StudyPair.objects.filter(pk=pair.pk)))
    return Status(201, decision_out(made))


@router.get("/precedents", response=Page[PrecedentOut])
def list_precedents(
    request: HttpRequest, wanted: Query[Paging], q: str = "", guidelines: str = ""
) -> Page[PrecedentOut]:
    """Decisions on hard cases, the oldest first; each word of `q` is in query, code, why or tags."""
    rows = precedents(visible.caller(request), q, guidelines).filter(pk__gt=wanted.after or 0)
    page = list(rows.order_by("pk")[: wanted.limit + 1])
    mark_seen(request.user, pairs_of([row.pk for row in page[: wanted.limit]]))
    return page_of(page, wanted.limit, lambda row: row.pk, precedent_out)


def begun(request: HttpRequest, pk: int) -> Study:
    """Raises Http404, and MayNotAdjudicate to those who are kept blind in it."""
    studies = Study.objects.exclude(state=Study.State.DRAFT).exclude(kind=Study.Kind.IMPORTED)
    study = get_object_or_404(studies, pk=pk)
    adjudicating.refuse(visible.caller(request), study)
    return study


def split_out(one: adjudicating.Split) -> SplitOut:
    return SplitOut(
        number=one.number,
        condition=one.condition,
        votes=list(one.votes),
        agreement=one.agreement,
        decision=decision_out(one.decision) if one.decision else None,
    )


def decision_out(row: Adjudication) -> DecisionOut:
    return DecisionOut(
        id=row.pk,
        value=row.value,
        cause=row.cause,
        note=row.note,
        supersedes=row.supersedes_id,
        by=row.by.get_username(),
        at=row.at,
    )


def precedent_out(row: Precedent) -> PrecedentOut:
    return PrecedentOut(
        id=row.pk,
        guidelines=row.guideline_name,
        query=row.query,
        code=row.code,
        value=row.value,
        why=row.why,
        tags=[str(tag) for tag in row.tags],
        by=row.created_by.get_username(),
        at=row.created_at,
    )
