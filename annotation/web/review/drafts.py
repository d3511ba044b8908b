"""Drafts: what a field starts with, and what browsers send and get of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, JsonResponse

from annotation import draft_rules
from annotation.draft_rules import Window
from annotation.models.reviews.typed_text import KeptText
from retrieval.texts.hostile import mark_hostile_characters


@dataclass(frozen=True, slots=True)
class Typed:
    """What a text field starts with, and when its draft was kept (ISO; empty: it is no draft).

    `unsaved`: it was sent and not stored, and another window has kept another draft.
    """

    text: str = ""
    draft_at: str = ""
    unsaved: bool = False

    @property
    def revision(self) -> str:
        """Of the draft that the field shows."""
        return "" if self.unsaved else self.draft_at


def choose_field_text(sent: str, draft: KeptText | None, stands: str, *, again: bool) -> Typed:
    """What was just sent, also where that is empty (`again`), else the draft, else what is stored."""
    at = draft.revision if draft else ""
    if not again:
        return Typed(draft.text if draft else stands, at)
    apart = bool(draft and mark_hostile_characters(sent).split() != draft.text.split())
    return Typed(sent, at, unsaved=apart)


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


def keep_quietly(save: Callable[[], object]) -> None:
    """Keep what could not be run, unless it is too long, or another window has kept another."""
    with suppress(draft_rules.DraftRefused, draft_rules.DraftChanged):
        save()


def refused(why: str) -> HttpResponse:
    return HttpResponse(why, status=400, content_type="text/plain")
