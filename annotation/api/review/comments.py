"""Comments on pairs, and the flags that admins answer."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router, Status

from annotation.accounts.roles import Role, builds_visible_to
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.models import Comment
from annotation.review.comments import PostedComment, answer_flag, find_open_flags, post_comment
from annotation.review.hidden_labels import find_hidden_pairs
from annotation.schemas.review.comments import AnswerIn, CommentIn, CommentOut, CommentPosted
from annotation.studies.exposure import mark_seen
from retrieval.schemas import Id, Page, Paging

router = Router(tags=["reviews"], auth=signed_in(Role.EXPERT))


@router.get("/cases/{int:pk}/comments", response=Page[CommentOut])
def list_comments(request: HttpRequest, pk: Path[Id], wanted: Query[Paging]) -> Page[Comment]:
    """What people wrote to each other about the case's pair, the oldest first. For experts.

    Where the build hides labels, an expert gets others' comments once their own label is stored.
    """
    case, user = visible.case(request, pk), visible.caller(request)
    mark_seen(user, [case.pair_id])
    rows: QuerySet[Comment] = Comment.objects.filter(pair=case.pair_id, pk__gt=wanted.after or 0)
    if find_hidden_pairs(user, case.build, [case.pair_id]):
        rows = rows.filter(author=user)
    return wanted.page(rows.select_related("author").order_by("pk"))


@router.post("/cases/{int:pk}/comments", response={201: CommentPosted})
def comment_on_case(request: HttpRequest, pk: Path[Id], said: CommentIn) -> Status[CommentPosted]:
    """Write a comment on the case's pair, or flag it for admins. For experts."""
    case, user = visible.case(request, pk), visible.caller(request)
    mark_seen(user, [case.pair_id])
    return Status(201, posted_out(post_comment(user, case, said.text, flag=said.flag)))


@router.get("/flags", response=Page[CommentOut], auth=signed_in(Role.ADMIN))
def list_flags(request: HttpRequest, wanted: Query[Paging]) -> Page[Comment]:
    """The flags that wait for an answer, the oldest first. For admins."""
    rows = find_open_flags(builds_visible_to(request.user)).filter(pk__gt=wanted.after or 0)
    page = wanted.page(rows.select_related("author").order_by("pk"))
    mark_seen(request.user, [flag.pair_id for flag in page.items])
    return page


@router.post("/flags/{int:pk}/answers", response={201: CommentPosted}, auth=signed_in(Role.ADMIN))
def answer_case_flag(request: HttpRequest, pk: Path[Id], said: AnswerIn) -> Status[CommentPosted]:
    """Close a flag with an answer, which its author is told of. For admins."""
    rows = Comment.objects.filter(kind=Comment.Kind.FLAG, case__build__in=builds_visible_to(request.user))
    flag = get_object_or_404(rows.select_related("author"), pk=pk)
    mark_seen(request.user, [flag.pair_id])
    return Status(201, posted_out(answer_flag(visible.caller(request), flag, said.text)))


def posted_out(posted: PostedComment) -> CommentPosted:
    return CommentPosted.of(posted.comment, told=list(posted.told), unknown=list(posted.unknown))
