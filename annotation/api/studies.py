"""Make, read, control and export studies. For admins, but not for those who rate in one that is live."""

from __future__ import annotations

from typing import Any, cast

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router, Status

from annotation.access import Role, builds_visible_to, refuse_while_blind
from annotation.api import visible
from annotation.api.auth import signed_in
from annotation.models import Study
from annotation.pages import studies as pages
from annotation.schemas.studies import (
    ConditionOut,
    OutlookOut,
    RatingOut,
    RatingPage,
    StudyControl,
    StudyControlled,
    StudyDetail,
    StudyIn,
    StudyOut,
    StudyPage,
    StudyState,
)
from annotation.seen import mark_seen, sides
from annotation.studies import controlling, creating, exporting
from annotation.studies.auditing import Verb, record
from annotation.studies.controlling import Action
from annotation.studies.estimating import Outlook
from annotation.studies.orders import order_of
from annotation.studies.planning import plan_of
from retrieval.schemas import LARGEST_ID, Id, Page, page_of

router = Router(tags=["studies"], auth=signed_in(Role.ADMIN))


@router.get("", response=Page[StudyOut])
def list_studies(request: HttpRequest, wanted: Query[StudyPage]) -> Page[StudyOut]:
    """Studies, the newest first. For admins."""
    rows = (
        Study.objects.filter(pk__lt=wanted.after or LARGEST_ID).select_related("created_by").order_by("-pk")
    )
    if wanted.state:
        rows = rows.filter(state=wanted.state)
    return page_of(rows[: wanted.limit + 1], wanted.limit, lambda row: row.pk, study_out)


@router.post("", response={201: StudyDetail})
def make_study(request: HttpRequest, told: StudyIn) -> Status[StudyDetail]:
    """Draw a sample and keep it as a draft; nobody is asked anything before it is started. For admins."""
    order = order_of(told, builds_visible_to(request.user))
    return Status(201, study_detail(creating.make(order, visible.caller(request))))


@router.get("/{int:pk}", response=StudyDetail)
def get_study(request: HttpRequest, pk: Path[Id]) -> StudyDetail:
    """One study with its plan and its progress. For admins."""
    return study_detail(study_of(request, pk))


@router.post("/{int:pk}/control", response=StudyControlled)
def control_study(request: HttpRequest, pk: Path[Id], told: StudyControl) -> StudyControlled:
    """Start, pause, resume or close a study, or delete a draft. For admins."""
    study = study_of(request, pk)
    controlling.control(study, Action(told.action), visible.caller(request), told.why)
    return StudyControlled(state=None if told.action == "delete" else cast(StudyState, study.state))


@router.get("/{int:pk}/plan", response=dict[str, Any])
def get_plan(request: HttpRequest, pk: Path[Id]) -> dict[str, Any]:
    """The plan; its hash is that of the text which the page exports. For admins."""
    study = study_of(request, pk)
    return cast("dict[str, Any]", study.plan if study.frozen_at else plan_of(study))


@router.get("/{int:pk}/ratings", response=Page[RatingOut])
def list_ratings(request: HttpRequest, pk: Path[Id], wanted: Query[RatingPage]) -> Page[RatingOut]:
    """Every revision of every rating under its pseudonym, the oldest first; no assisted label. For admins."""
    refuse_while_blind(request.user)
    study = study_of(request, pk)
    mark_seen(request.user, sides(study.pairs.all()))
    if not wanted.after:
        record(visible.caller(request), Verb.EXPORTED, f"ratings of {study.name}", study, {"format": "api"})
    rows = exporting.numbered(study, wanted.after or 0, wanted.limit + 1)
    return page_of(rows, wanted.limit, lambda row: row[0], lambda row: RatingOut(**row[1]))


def study_of(request: HttpRequest, pk: int) -> Study:
    """Raises Http404, and PermissionDenied for those who rate in the study until it is closed."""
    study = get_object_or_404(Study.objects.select_related("created_by", "guideline"), pk=pk)
    if study.is_live and study.enrolments.filter(user_id=visible.caller(request).pk).exists():
        raise PermissionDenied("You rate in this study: it is closed to you until it is closed.")
    return study


def study_out(study: Study) -> StudyOut:
    return StudyOut(
        id=study.pk,
        name=study.name,
        state=cast(StudyState, study.state),
        kind=study.kind,
        purpose=study.purpose,
        scale=study.scale,
        pairs=study.planned_pairs,
        frozen_at=study.frozen_at,
        plan_hash=study.plan_hash,
        created_by=study.created_by.get_username() if study.created_by else None,
        created_at=study.created_at,
    )


def study_detail(study: Study) -> StudyDetail:
    page = pages.study_page(study)
    found = page.outlook
    return StudyDetail(
        **study_out(study).dict(),
        question=study.question,
        plan=study.plan if study.frozen_at and study.plan else plan_of(study),
        progress=[
            ConditionOut(**{name: getattr(row, name) for name in ConditionOut.model_fields})
            for row in page.progress.conditions
        ],
        outlook=outlook_out(found) if found else None,
    )


def outlook_out(found: Outlook) -> OutlookOut:
    return OutlookOut(
        pairs=found.pairs,
        queries=found.queries,
        ratings=found.ratings,
        hours=found.hours,
        dollars=found.dollars,
        problems=list(found.problems),
        warnings=list(found.warnings),
    )
