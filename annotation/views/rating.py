"""What raters do: the next pair, a rating, a skip, a draft, an undo. Translate, call once, translate back."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Final, ParamSpec

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import Role, needs
from annotation.models import Assignment
from annotation.pages.paging import whole_number
from annotation.pages.rating import Sent
from annotation.studies import drafts, queueing, rating, running
from annotation.studies.drafts import DraftRefused
from annotation.studies.queueing import BadSkip, Lapsed, QueueClosed
from annotation.studies.rating import BadRating, Conflict, NothingToUndo, Said
from annotation.views.rating_pages import own_assignment, own_enrolment, show_pair, to_pair, to_study

P = ParamSpec("P")
PLAIN: Final = "text/plain"
NOTHING_LEFT: Final = "You have rated all that is there for you now. Thank you."


@needs(Role.EXPERT)
@require_http_methods(["GET", "HEAD", "POST"])
def following(request: HttpRequest, study_pk: int) -> HttpResponse:
    """To the pair that is open, else to another one, reserved now; asking again changes nothing."""
    return to_next(request, study_pk)


def posted(
    view: Callable[Concatenate[HttpRequest, int, int, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, int, int, P], HttpResponse]:
    """A GET stores nothing: it is somebody who reloads the address of a form that was shown again."""

    @wraps(view)
    def guarded(
        request: HttpRequest, study_pk: int, number: int, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        if request.method != "POST":
            return to_pair(own_assignment(request, study_pk, number))
        return view(request, study_pk, number, *args, **kwargs)

    return guarded


@needs(Role.EXPERT)
@require_http_methods(["GET", "HEAD", "POST"])
@posted
def submit(request: HttpRequest, study_pk: int, number: int) -> HttpResponse:
    """Store what was said and go on; what can't be stored is shown again as it was typed."""
    found, sent = own_assignment(request, study_pk, number), sent_of(request.POST)
    try:
        said = said_of(found, request.POST)
        seen = whole_number(request.POST.get("seen_revision", ""))
        rating.submit(found, request.POST.get("token", ""), said, seen)
    except BadRating as why:
        return shown_again(request, study_pk, number, sent(problem=str(why)), 422)
    except Conflict as conflict:
        return shown_again(request, study_pk, number, sent(conflict=conflict), 409)
    except Lapsed as why:
        return shown_again(request, study_pk, number, sent(problem=str(why), lapsed=True), 409)
    except QueueClosed as why:
        return told(request, study_pk, str(why))
    return to_next(request, study_pk)


@needs(Role.EXPERT)
@require_http_methods(["GET", "HEAD", "POST"])
@posted
def skip(request: HttpRequest, study_pk: int, number: int) -> HttpResponse:
    """Give the pair back with a reason, and go on."""
    found, values = own_assignment(request, study_pk, number), request.POST
    try:
        queueing.skip(found, values.get("token", ""), values.get("skip_reason", ""))
    except BadSkip as why:
        return shown_again(request, study_pk, number, Sent(skip_problem=str(why)), 422)
    except Lapsed as why:
        return shown_again(request, study_pk, number, Sent(skip_problem=str(why), lapsed=True), 409)
    return to_next(request, study_pk)


@needs(Role.EXPERT)
@require_POST
def draft(request: HttpRequest, study_pk: int, number: int) -> HttpResponse:
    """Keep what is being typed; 204, or 400 with what is wrong."""
    found = own_assignment(request, study_pk, number)
    try:
        drafts.save(found, request.POST.get("field", ""), request.POST.get("text", ""))
    except DraftRefused as why:
        return HttpResponse(str(why), status=400, content_type=PLAIN)
    return HttpResponse(status=204)


@needs(Role.EXPERT)
@require_POST
def heartbeat(request: HttpRequest, study_pk: int, number: int) -> HttpResponse:
    """Hold the pair on: the moment until which it is held, or 409 with what happened."""
    found = own_assignment(request, study_pk, number)
    try:
        until = queueing.heartbeat(found, request.POST.get("token", ""))
    except Lapsed as why:
        return HttpResponse(str(why), status=409, content_type=PLAIN)
    return HttpResponse(until.isoformat(), content_type=PLAIN)


@needs(Role.EXPERT)
@require_POST
def undo(request: HttpRequest, study_pk: int) -> HttpResponse:
    """Take the last decision back, and go to its pair."""
    enrolment = own_enrolment(request, study_pk)
    try:
        found = rating.undo(enrolment)
    except NothingToUndo as why:
        return told(request, study_pk, str(why))
    messages.success(request, "Taken back. What you had said is in the form.")
    return to_pair(found)


@needs(Role.EXPERT)
@require_POST
def leave(request: HttpRequest, study_pk: int) -> HttpResponse:
    """End one's part early."""
    queueing.leave(own_enrolment(request, study_pk))
    messages.success(request, "Your part of the study is ended. What you rated stays; thank you.")
    return to_study(study_pk)


def to_next(request: HttpRequest, study_pk: int) -> HttpResponse:
    try:
        found = queueing.next_assignment(own_enrolment(request, study_pk))
    except QueueClosed as why:
        return told(request, study_pk, str(why))
    if found is None:
        messages.success(request, NOTHING_LEFT)
        return to_study(study_pk)
    return HttpResponseRedirect(reverse("rate-pair", args=[study_pk, found.study_pair.number]))


def told(request: HttpRequest, study_pk: int, why: str) -> HttpResponse:
    messages.error(request, why)
    return to_study(study_pk)


def shown_again(request: HttpRequest, study_pk: int, number: int, sent: Sent, status: int) -> HttpResponse:
    """The page as it stands now, with what was typed."""
    return show_pair(request, own_assignment(request, study_pk, number), sent, status)


def sent_of(values: QueryDict) -> Callable[..., Sent]:
    """What the form had sent, to be shown again with what is wrong with it."""

    def made(problem: str = "", conflict: Conflict | None = None, *, lapsed: bool = False) -> Sent:
        return Sent(
            choice=values.get("choice", ""),
            notes=values.get("notes", ""),
            reason=values.get("reason", ""),
            tags=tuple(values.getlist("tags")),
            problem=problem,
            conflict=conflict,
            lapsed=lapsed,
        )

    return made


def said_of(found: Assignment, values: QueryDict) -> Said:
    """What the form says. Raises BadRating."""
    calls, runs = running.ids_of(found)
    return Said(
        value=rating.value_of(found, values.get("choice", "")),
        reason=values.get("reason", ""),
        notes=values.get("notes", ""),
        tags=tuple(values.getlist("tags")),
        seconds=seconds_of(values.get("seconds", "")),
        calls=calls,
        runs=runs,
        evidence=values.get("evidence", ""),
    )


def seconds_of(sent: str) -> float:
    """Active seconds as the page counted them; 0 where nobody did."""
    try:
        seconds = float(sent)
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) else 0.0
