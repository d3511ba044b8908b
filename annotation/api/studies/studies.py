"""Make, read, control and export studies. For admins, but not for those who rate in one that is live."""

from __future__ import annotations

from operator import itemgetter
from typing import Any, cast

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router, Status

from annotation.accounts.roles import Role, builds_visible_to, refuse_while_blind
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.api.shared.tables import answer_tables
from annotation.models import Study
from annotation.schemas.benchmarks.benchmarks import TableQuery
from annotation.schemas.studies.studies import (
    RatingPage,
    StudyControl,
    StudyControlled,
    StudyDetail,
    StudyIn,
    StudyOut,
    StudyPage,
    StudyPublicationOut,
    StudyPublished,
    StudyRatingOut,
    StudyState,
)
from annotation.studies.adjudication import verified_subset
from annotation.studies.audit_log import Verb, append_audit_event
from annotation.studies.exposure import mark_seen, pairs_of_study_rows
from annotation.studies.plan import control, creation
from annotation.studies.plan.control import Action
from annotation.studies.plan.effort import outlook_of
from annotation.studies.plan.order_json import order_of
from annotation.studies.plan.plan import plan_of, seen_now
from annotation.studies.report import rating_export
from annotation.studies.report.figures import refuse_to_raters
from annotation.web.studies.figure_views import tables_of
from annotation.web.studies.page import condition_rows, rating_seconds_of_study
from retrieval.schemas import LARGEST_ID, Id, Page

router = Router(tags=["studies"], auth=signed_in(Role.ADMIN))


@router.get("", response=Page[StudyOut])
def list_studies(request: HttpRequest, wanted: Query[StudyPage]) -> Page[Study]:
    """Studies, the newest first. For admins."""
    rows = (
        Study.objects.filter(pk__lt=wanted.after or LARGEST_ID).select_related("created_by").order_by("-pk")
    )
    if wanted.state:
        rows = rows.filter(state=wanted.state)
    return wanted.page(rows)


@router.post("", response={201: StudyDetail})
def make_study(request: HttpRequest, told: StudyIn) -> Status[StudyDetail]:
    """Draw a sample and keep it as a draft; nobody is asked anything before it is started. For admins."""
    order = order_of(told, builds_visible_to(request.user))
    return Status(201, study_detail(creation.create_draft_study(order, visible.caller(request))))


@router.get("/{int:pk}", response=StudyDetail)
def get_study(request: HttpRequest, pk: Path[Id]) -> StudyDetail:
    """One study with its plan and its progress. For admins."""
    return study_detail(study_of(request, pk))


@router.post("/{int:pk}/control", response=StudyControlled)
def control_study(request: HttpRequest, pk: Path[Id], told: StudyControl) -> StudyControlled:
    """Start, pause, resume or close a study, or delete a draft. For admins."""
    study = study_of(request, pk)
    control.perform_study_action(study, Action(told.action), visible.caller(request), told.reason)
    return StudyControlled(state=None if told.action == "delete" else cast(StudyState, study.state))


@router.get("/{int:pk}/publication", response=StudyPublicationOut)
def get_study_publication(request: HttpRequest, pk: Path[Id]) -> StudyPublicationOut:
    """The labels that publishing the study would give; 409 says why there can be none yet. For admins."""
    study = study_of(request, pk)
    found = verified_subset.require_publishable_verdicts(study)
    return StudyPublicationOut(
        labels=len(found),
        by_majority=sum(verdict.by == "majority" for verdict in found),
        by_adjudication=sum(verdict.by == "adjudication" for verdict in found),
        undecided=verified_subset.count_undecided_samples(study),
    )


@router.post("/{int:pk}/publish", response=StudyPublished)
def publish_study(request: HttpRequest, pk: Path[Id]) -> StudyPublished:
    """Publish what a closed study decided as labels of an annotator of its own, once. For admins."""
    study = study_of(request, pk)
    labels = verified_subset.publish_verified_subset(study, visible.caller(request))
    return StudyPublished(labels=labels, annotator=verified_subset.annotator_of_study(study).pk)


@router.get("/{int:pk}/figures", response=dict[str, Any], auth=signed_in(Role.READER))
def get_study_figures(
    request: HttpRequest, pk: Path[Id], wanted: Query[TableQuery]
) -> dict[str, Any] | HttpResponse:
    """The figures of a study: all tables, or one as a file; 409 says why there are none."""
    study = get_object_or_404(Study, pk=pk)
    refuse_to_raters(request.user, study)
    return answer_tables(tables_of(study), wanted, f"study-{study.pk}")


@router.get("/{int:pk}/plan", response=dict[str, Any])
def get_plan(request: HttpRequest, pk: Path[Id]) -> dict[str, Any]:
    """The plan; its hash is that of the text which the page exports. For admins."""
    study = study_of(request, pk)
    return cast("dict[str, Any]", study.plan if study.frozen_at else plan_of(study))


@router.get("/{int:pk}/ratings", response=Page[StudyRatingOut])
def list_ratings(request: HttpRequest, pk: Path[Id], wanted: Query[RatingPage]) -> Page[StudyRatingOut]:
    """Every revision of every rating under its pseudonym, the oldest first; no assisted label. For admins."""
    refuse_while_blind(request.user)
    study = study_of(request, pk)
    mark_seen(request.user, pairs_of_study_rows(study.pairs.all()))
    if not wanted.after:
        append_audit_event(
            visible.caller(request), Verb.EXPORTED, f"ratings of {study.name}", study, {"format": "api"}
        )
    rows = rating_export.list_revisions_after(study, wanted.after or 0, wanted.limit + 1)
    page = wanted.page(rows, itemgetter(0))
    return Page(items=[StudyRatingOut(**rating) for _, rating in page.items], next=page.next)


def study_of(request: HttpRequest, pk: int) -> Study:
    """Raises Http404, and PermissionDenied for those who rate in the study until it is closed."""
    study = get_object_or_404(Study.objects.select_related("created_by", "guideline"), pk=pk)
    if study.is_live and study.enrolments.filter(user_id=visible.caller(request).pk).exists():
        raise PermissionDenied("You rate in this study: it is closed to you until it is closed.")
    return study


def study_detail(study: Study) -> StudyDetail:
    return StudyDetail.of(
        study,
        plan=study.plan if study.frozen_at and study.plan else plan_of(study),
        progress=list(condition_rows(study, rating_seconds_of_study(study))),
        outlook=outlook_of(study) if study.state == Study.State.DRAFT else None,
        last_change=seen_now(study),
    )
