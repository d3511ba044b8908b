"""Comments on a pair, and the flags that wait for an admin."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from annotation.accounts.roles import FORM, GET, POST, Role, builds_visible_to, require_role
from annotation.models import Comment
from annotation.review.comments import (
    AlreadyAnswered,
    BadComment,
    PostedComment,
    answer_flag,
    find_open_flags,
    post_comment,
)
from annotation.studies.exposure import mark_seen
from annotation.web.review.drafts import Typed, window_of
from annotation.web.review.page import case_page
from annotation.web.review.views import list_of, to_case, visible_case
from annotation.web.shared.requests import is_fragment, person, say_refusals

MOST_FLAGS = 100


@require_role(Role.EXPERT, FORM)
def comment(request: HttpRequest, pk: int) -> HttpResponse:
    """Store a comment or a flag and show the history with it; a GET is somebody who reloads the address."""
    found, user, sent = visible_case(request, pk), person(request), request.POST
    show = list_of(request, sent)
    if request.method != "POST":
        return to_case(found, show)
    text, flag = sent.get("text", ""), sent.get("kind") == Comment.Kind.FLAG
    problem = ""
    try:
        posted = post_comment(user, found, text, flag=flag, window=window_of(request))
    except BadComment as why:
        problem = str(why)
    else:
        messages.success(request, describe_posted(posted))
        if not is_fragment(request):
            return to_case(found, show)
    page = case_page(user, found, show)
    if problem:
        page |= {"comment": Typed(text), "comment_problem": problem}
    template = "commented" if is_fragment(request) else "detail"
    status = 422 if problem else 200
    return render(request, f"annotation/review/{template}.html", {"page": page}, status=status)


def describe_posted(posted: PostedComment) -> str:
    """What became of a comment: who is told of it, and which names are nobody's."""
    flagged = posted.comment.kind == Comment.Kind.FLAG
    said = ["Flagged: admins see it." if flagged else "Comment saved."]
    if posted.told:
        said.append(f"{' and '.join(posted.told)} will see it on their first page.")
    if posted.unknown:
        said.append(f"No expert or admin is called {' or '.join(posted.unknown)}.")
    return " ".join(said)


@require_role(Role.ADMIN, GET)
def flags(request: HttpRequest) -> HttpResponse:
    """The flags that wait for an answer, the oldest first."""
    return show_flags(request)


@require_role(Role.ADMIN, POST)
def answer(request: HttpRequest, pk: int) -> HttpResponse:
    """Close a flag with an answer."""
    visible = Comment.objects.filter(kind=Comment.Kind.FLAG, case__build__in=builds_visible_to(request.user))
    flag = get_object_or_404(visible.select_related("author"), pk=pk)
    text = request.POST.get("text", "")
    with say_refusals(request, AlreadyAnswered):
        try:
            answer_flag(person(request), flag, text)
        except BadComment as why:
            return show_flags(request, {flag.pk: (text, str(why))}, status=422)
        messages.success(request, f"Answered: {flag.author} sees it on the pair.")
    return HttpResponseRedirect(reverse("flags"))


def show_flags(
    request: HttpRequest, refused: dict[int, tuple[str, str]] | None = None, status: int = 200
) -> HttpResponse:
    """The list; `refused` has by flag what was typed and what is wrong with it."""
    open_flags = find_open_flags(builds_visible_to(request.user))
    shown = list(open_flags.select_related("author", "pair__query", "case__build")[:MOST_FLAGS])
    mark_seen(request.user, [flag.pair_id for flag in shown])
    entries = [(flag, *(refused or {}).get(flag.pk, ("", ""))) for flag in shown]
    return render(request, "annotation/review/flags.html", {"entries": entries}, status=status)
