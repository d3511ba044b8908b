"""What browsers send and get of drafts, on whichever page they are typed."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse

from annotation import draft_rules
from annotation.draft_rules import Window
from retrieval.texts.hostile import mark_hostile_characters

LONGEST_NAME = 40
PREFIX = "draft_"


def window_of(request: HttpRequest) -> Window | None:
    """The browser's window that sent a form, with the drafts that it knows; None without JavaScript."""
    sent = request.POST
    if "draft_window" not in sent:
        return None
    known = {name.removeprefix(PREFIX): sent[name] for name in sent if name.startswith(PREFIX)}
    return Window(mark_hostile_characters(sent["draft_window"])[:LONGEST_NAME], known)


def kept(save: Callable[[], str]) -> HttpResponse:
    """204 with the draft's revision, 409 with what another window has kept, or 400 with what is wrong."""
    try:
        revision = save()
    except draft_rules.DraftRefused as why:
        return refused(str(why))
    except draft_rules.DraftChanged as why:
        both = {"message": str(why), "text": why.stored.text, "revision": why.stored.revision}
        return JsonResponse(both, status=409)
    return HttpResponse(status=204, headers={"Draft-Revision": revision})


def refused(why: str) -> HttpResponse:
    return HttpResponse(why, status=400, content_type="text/plain")
