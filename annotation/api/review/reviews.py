"""Read reviews, give one, take it back."""

from __future__ import annotations

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router, Status

from annotation import review
from annotation.accounts.roles import Role, refuse_while_blind
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.models import Review
from annotation.review.carried_labels import find_earlier_label, submit_earlier_label
from annotation.review.earlier_revisions import restore_revision
from annotation.review.hidden_labels import filter_shown_reviews
from annotation.schemas.review.reviews import AsBeforeIn, RestoreIn, ReviewIn, ReviewOut, UndoIn
from annotation.studies.exposure import mark_seen
from retrieval.schemas import Id, Page, Paging

router = Router(tags=["reviews"])


@router.get("/builds/{int:pk}/reviews", response=Page[ReviewOut])
def list_reviews(request: HttpRequest, pk: Path[Id], wanted: Query[Paging]) -> Page[Review]:
    """Every revision of every review that was given in the build, the oldest first.

    Where the build hides them, an expert gets others' reviews only of pairs that they have labelled.
    """
    build = visible.build(request, pk)
    given = Review.objects.filter(case__build=build).select_related("rater")
    rows = filter_shown_reviews(given, request.user, build)
    page = wanted.page(rows.filter(pk__gt=wanted.after or 0).order_by("pk"))
    mark_seen(request.user, [row.pair_id for row in page.items])
    return page


@router.get("/cases/{int:pk}/reviews", response=Page[ReviewOut])
def list_case_reviews(request: HttpRequest, pk: Path[Id], wanted: Query[Paging]) -> Page[Review]:
    """Every revision on the case's pair by anybody, in whichever build it was given, the oldest first.

    Where the build hides them, an expert gets others' reviews once their own is stored.
    """
    case = visible.case(request, pk)
    mark_seen(request.user, [case.pair_id])
    rows = visible.reviews(request).filter(pair=case.pair_id, pk__gt=wanted.after or 0)
    rows = filter_shown_reviews(rows, request.user, case.build)
    return wanted.page(rows.order_by("pk"))


@router.post("/cases/{int:pk}/reviews", response={201: ReviewOut}, auth=signed_in(Role.EXPERT))
def post_review(request: HttpRequest, pk: Path[Id], said: ReviewIn) -> Status[Review]:
    """Give your label on the case's pair; it is stored as assisted. For experts."""
    case = visible.case(request, pk)
    mark_seen(request.user, [case.pair_id])
    beside = review.Beside(said.tags, said.seconds, lines=said.lines)
    given = review.submit_label(
        visible.caller(request), case, said.label, said.reason, said.evidence, said.seen_revision, beside
    )
    return Status(201, given)


@router.post("/cases/{int:pk}/reviews/undo", response={201: ReviewOut}, auth=signed_in(Role.EXPERT))
def undo_review(request: HttpRequest, pk: Path[Id], said: UndoIn) -> Status[Review]:
    """Take back your last label on the case's pair: what stood before stands again. For experts."""
    case = visible.case(request, pk)
    return Status(201, review.undo_latest_label(visible.caller(request), case, said.seen_revision))


@router.post("/cases/{int:pk}/reviews/as-before", response={201: ReviewOut}, auth=signed_in(Role.EXPERT))
def carry_review_over(request: HttpRequest, pk: Path[Id], said: AsBeforeIn) -> Status[Review]:
    """Give the label that you gave equal code for the same query, with its reason and tags. For experts."""
    case, user = visible.case(request, pk), visible.caller(request)
    mark_seen(user, [case.pair_id])
    earlier = find_earlier_label(user, case)
    source = said.source if said.source is not None else earlier.pk if earlier else 0
    return Status(201, submit_earlier_label(user, case, source, said.evidence, said.seen_revision))


@router.post("/reviews/{int:pk}/restore", response={201: ReviewOut}, auth=signed_in(Role.EXPERT))
def restore_review(request: HttpRequest, pk: Path[Id], said: RestoreIn) -> Status[Review]:
    """Let an earlier revision of your label count again, as the next one. For experts."""
    refuse_while_blind(request.user)
    user = visible.caller(request)
    earlier = get_object_or_404(Review, pk=pk, rater=user)
    return Status(201, restore_revision(earlier, user, said.seen_revision))
