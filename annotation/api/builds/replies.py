"""Replies by hand or by any script: the requests of a build that wait, and their replies."""

from __future__ import annotations

import io
import json
from typing import Any

from django.http import HttpRequest
from ninja import Path, Query, Router

from annotation.accounts.roles import Role
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.builds.pipeline import file_exchange
from annotation.llm.exchange import prompt_of, question_of
from annotation.models import Build, Case
from annotation.schemas.builds.replies import RefusedReply, RepliesIn, TakenOut, WaitingOut, WaitingPage
from annotation.studies.exposure import mark_list_seen
from retrieval.schemas import Id

router = Router(tags=["replies"])


@router.get("/{int:pk}/requests", response=WaitingOut, auth=signed_in(Role.ADMIN), by_alias=True)
def list_requests(request: HttpRequest, pk: Path[Id], wanted: Query[WaitingPage]) -> dict[str, Any]:
    """Requests that wait for a reply, the oldest first; an answered one is gone from the list. For admins."""
    build = visible.job(request, pk)
    mark_list_seen(request.user, pk, Case.objects.filter(build=build, waiting_for__isnull=False))
    rows = file_exchange.find_unanswered_calls(build)
    later = rows.filter(pk__gt=wanted.after or 0).select_related("system", "request")
    page = wanted.page(later)
    asked = [call.whole_request() for call in page.items]
    return {
        "open": not build.is_over,
        "waiting": rows.count(),
        "prompts": {prompt["prompt"]: prompt for prompt in map(prompt_of, asked)},
        "items": [question_of(each) for each in asked],
        "next": page.next,
    }


@router.post("/{int:pk}/replies", response=TakenOut, auth=signed_in(Role.ADMIN))
def take_replies(request: HttpRequest, pk: Path[Id], given: RepliesIn) -> TakenOut:
    """Take replies; a bad one is refused by its place, and the others are taken. For admins."""
    build: Build = visible.job(request, pk)
    lines = (reply.dict(exclude_none=True) for reply in given.replies)
    stream = io.BytesIO("\n".join(map(json.dumps, lines)).encode("ascii"))
    done = file_exchange.import_replies(build, stream, given.model)
    refused = [RefusedReply(place=problem.line, reason=problem.message) for problem in done.problems]
    return TakenOut(taken=done.taken, known=done.known, continuing=done.moved, refused=refused)
