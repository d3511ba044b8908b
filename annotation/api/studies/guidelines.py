"""Guidelines: read their versions, write the next one, and say which one a build's reviewers read."""

from __future__ import annotations

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router, Status

from annotation.accounts.roles import Role
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.models import Guideline
from annotation.review.guidelines import set_guideline
from annotation.schemas.studies.guidelines import (
    BuildGuidelineIn,
    BuildGuidelineOut,
    GuidelineDetail,
    GuidelineIn,
    GuidelineOut,
    GuidelinePage,
)
from annotation.studies.plan.guidelines import Wording, write_guideline_version
from annotation.studies.plan.order_json import guideline_of
from retrieval.schemas import LARGEST_ID, Id, Page

router = Router(tags=["studies"], auth=signed_in(Role.ADMIN))


@router.get("/guidelines", response=Page[GuidelineOut])
def list_guidelines(request: HttpRequest, wanted: Query[GuidelinePage]) -> Page[Guideline]:
    """All versions of guidelines, the newest first. For admins."""
    rows = Guideline.objects.filter(pk__lt=wanted.after or LARGEST_ID).select_related("created_by")
    if wanted.name is not None:
        rows = rows.filter(name=wanted.name)
    return wanted.page(rows.order_by("-pk"))


@router.get("/guidelines/{int:pk}", response=GuidelineDetail)
def get_guideline(request: HttpRequest, pk: Path[Id]) -> Guideline:
    """One version with its text and its worked cases. For admins."""
    return get_object_or_404(Guideline.objects.select_related("created_by"), pk=pk)


@router.post("/guidelines", response={201: GuidelineDetail})
def write_guideline(request: HttpRequest, told: GuidelineIn) -> Status[Guideline]:
    """Write the next version of guidelines; studies follow it when their plan says so. For admins."""
    cases = tuple(case.dict() for case in told.worked_cases)
    wording = Wording(told.name, told.text, told.change, told.note, cases)
    return Status(201, write_guideline_version(wording, visible.caller(request), told.seen_version))


@router.post("/builds/{int:pk}/guidelines", response=BuildGuidelineOut)
def choose_guideline(request: HttpRequest, pk: Path[Id], told: BuildGuidelineIn) -> BuildGuidelineOut:
    """Choose the version of guidelines that reviewers of a build read. For admins."""
    build, chosen = visible.build(request, pk), guideline_of(told.guideline)
    changed = set_guideline(build, chosen, visible.caller(request), told.reason)
    return BuildGuidelineOut.model_validate({"guideline": chosen, "changed": changed})
