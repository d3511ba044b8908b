"""Read reviews, give one, take it back."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Path, Query, Router, Status

from annotation import review
from annotation.access import Role
from annotation.api import visible
from annotation.api.auth import signed_in
from annotation.models import Review
from annotation.schemas.reviews import ReviewIn, ReviewOut, UndoIn
from annotation.seen import mark_seen
from retrieval.schemas import Id, Page, Paging, page_of

router = Router(tags=["reviews"])


@router.get("/builds/{int:pk}/reviews", response=Page[ReviewOut])
def list_reviews(request: HttpRequest, pk: Path[Id], wanted: Query[Paging]) -> Page[ReviewOut]:
    """Every revision of every review that was given in the build, the oldest first."""
    rows = Review.objects.filter(case__build=visible.build(request, pk)).select_related("rater")
    page = list(rows.filter(pk__gt=wanted.after or 0).order_by("pk")[: wanted.limit + 1])
    mark_seen(request.user, [row.pair_id for row in page[: wanted.limit]])
    return page_of(page, wanted.limit, lambda row: row.pk, review_out)


@router.get("/cases/{int:pk}/reviews", response=Page[ReviewOut])
def list_case_reviews(request: HttpRequest, pk: Path[Id], wanted: Query[Paging]) -> Page[ReviewOut]:
    """Every revision on the case's pair by anybody, in whichever build it was given, the oldest first."""
    case = visible.case(request, pk)
    mark_seen(request.user, [case.pair_id])
    rows = visible.reviews(request).filter(pair=case.pair_id, pk__gt=wanted.after or 0)
    return page_of(rows.order_by("pk")[: wanted.limit + 1], wanted.limit, lambda row: row.pk, review_out)


@router.post("/cases/{int:pk}/reviews", response={201: ReviewOut}, auth=signed_in(Role.EXPERT))
def post_review(request: HttpRequest, pk: Path[Id], said: ReviewIn) -> Status[ReviewOut]:
    """Give your label on the case's pair; it is stored as assisted. For experts."""
    case = visible.case(request, pk)
    mark_seen(request.user, [case.pair_id])
    beside = review.Beside(said.tags, said.seconds)
    given = review.submit(
        visible.caller(request), case, said.label, said.reason, said.evidence, said.seen_revision, beside
    )
    return Status(201, review_out(given))


@router.post("/cases/{int:pk}/reviews/undo", response={201: ReviewOut}, auth=signed_in(Role.EXPERT))
def undo_review(request: HttpRequest, pk: Path[Id], said: UndoIn) -> Status[ReviewOut]:
    """Take back your last label on the case's pair: what stood before stands again. For experts."""
    case = visible.case(request, pk)
    return Status(201, review_out(review.undo(visible.caller(request), case, said.seen_revision)))


def review_out(row: Review) -> ReviewOut:
    return ReviewOut(
        id=row.pk,
        case=row.case_id,
        pair=row.pair_id,
        rater=row.rater.username,
        phase=row.phase,
        revision=row.revision,
        supersedes=row.supersedes_id,
        label=row.label,
        withdrawn=row.withdrawn,
        agent_label=row.agent_label,
        is_override=row.is_override,
        reason=row.reason,
        tags=row.tags,
        seconds=row.seconds,
        calls=row.calls,
        runs=row.runs,
        evidence=row.evidence,
        created_at=row.created_at,
    )
