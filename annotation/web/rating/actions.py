"""What a rater does: takes the next pair, says what it is, skips it, takes back, holds on to it."""

from __future__ import annotations

from dataclasses import replace

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from annotation.accounts.roles import FORM, GET, POST, Role, require_role
from annotation.models import Assignment, Rating
from annotation.studies.enrolment import queue, rater_studies
from annotation.studies.plan.form_checks import BadRating, RaterStatement, value_of
from annotation.studies.rating import drafts, earlier_revisions, ratings, undo
from annotation.studies.rating.runs import ids_of
from annotation.web.rating.form import Sent
from annotation.web.rating.page import restored_message, stored_message
from annotation.web.rating.study_list import leave_page
from annotation.web.rating.views import own_enrolment, show_again, to_pair, to_study
from annotation.web.review.drafts import kept, window_of
from annotation.web.shared.requests import number as whole
from annotation.web.shared.requests import person, say_refusals


@require_role(Role.EXPERT, GET)
def open_next_pair(request: HttpRequest, study_pk: int) -> HttpResponse:
    """To the pair that is open, or to another one, reserved now; to the study where nothing is to be done."""
    enrolment = own_enrolment(request, study_pk)
    try:
        found = queue.next_assignment(enrolment)
    except queue.QueueClosed as why:
        messages.warning(request, str(why))
        return to_study(study_pk)
    if found is None and enrolment.finished_at is None:
        messages.info(request, "No pair is free now. Check back later: one may come free.")
    return to_pair(found) if found else to_study(study_pk)


@require_role(Role.EXPERT, FORM)
def submit_rating(request: HttpRequest, study_pk: int, number: int) -> HttpResponse:
    """Store what was said and go on; what can't be stored is shown again as it was typed.

    A GET stores nothing: it is somebody who reloads the address of a form that was shown again.
    """
    found = load_held_assignment(request, study_pk, number)
    if request.method != "POST":
        return to_pair(found)
    try:
        made = store_sent_rating(request, found)
    except (BadRating, ratings.RatedMeanwhile, queue.Lapsed, queue.QueueClosed) as why:
        return show_unstored(request, found, why)
    messages.success(request, stored_message(person(request), made))
    return HttpResponseRedirect(reverse("rate-next", args=[study_pk]))


def store_sent_rating(request: HttpRequest, found: Assignment) -> Rating:
    """The form's way to its row. Raises BadRating, RatedMeanwhile, Lapsed and QueueClosed."""
    said, seen = said_in(request, found), whole(request.POST, "seen_revision")
    return ratings.submit_rating(found, request.POST.get("token", ""), said, seen, window_of(request))


def show_unstored(request: HttpRequest, found: Assignment, why: Exception) -> HttpResponse:
    """The page with what was sent, and why it could not be stored."""
    sent = sent_in(request)
    if isinstance(why, ratings.RatedMeanwhile):
        return show_again(request, found, replace(sent, conflict=why), status=409)
    if isinstance(why, queue.Lapsed):
        return show_again(request, found, replace(sent, problem=str(why), lapsed=True), status=409)
    return show_again(request, found, replace(sent, problem=str(why)), status=422)


@require_role(Role.EXPERT, POST)
def skip_assigned_pair(request: HttpRequest, study_pk: int, number: int) -> HttpResponse:
    """Give the pair back with a reason, and go on."""
    found, reason = load_held_assignment(request, study_pk, number), request.POST.get("reason", "")
    try:
        queue.skip_assignment(found, request.POST.get("token", ""), reason, window_of(request))
    except queue.Lapsed as why:
        return show_again(request, found, Sent(lost=str(why), lapsed=True, skipping=reason), status=409)
    except queue.BadSkip as why:
        return show_again(request, found, Sent(skip_problem=str(why), skipping=reason), status=422)
    messages.success(request, "Skipped. Undo opens the pair again.")
    return HttpResponseRedirect(reverse("rate-next", args=[study_pk]))


@require_role(Role.EXPERT, POST)
def save_rating_draft(request: HttpRequest, study_pk: int, number: int) -> HttpResponse:
    """Keep what is being typed; 204, 409 with what another window has kept, or 400 with what is wrong."""
    found, sent = load_held_assignment(request, study_pk, number), request.POST
    field, text = sent.get("field", ""), sent.get("text", "")
    return kept(lambda: drafts.save_draft(found, field, text, window_of(request)))


@require_role(Role.EXPERT, POST)
def record_rating_heartbeat(request: HttpRequest, study_pk: int, number: int) -> HttpResponse:
    """Hold on to the pair; 204, or 409 with what happened to it."""
    found = load_held_assignment(request, study_pk, number)
    try:
        queue.record_heartbeat(found, request.POST.get("token", ""))
    except queue.Lapsed as why:
        return HttpResponse(str(why), status=409, content_type="text/plain")
    return HttpResponse(status=204)


@require_role(Role.EXPERT, POST)
def undo_rating(request: HttpRequest, study_pk: int) -> HttpResponse:
    """Take back the decision that the form names in `undoes`, without it the last one, and go to its pair.

    Where that does not stand any more, go to the pair that is open.
    """
    enrolment = own_enrolment(request, study_pk)
    try:
        found = undo.undo_decision(enrolment, request.POST.get("undoes"))
    except undo.NothingToTakeBack as why:
        messages.error(request, str(why))
        return HttpResponseRedirect(reverse("rate-next", args=[study_pk]))
    messages.success(request, "Undone. Your answer is in the form again.")
    return to_pair(found)


@require_role(Role.EXPERT, POST)
def restore_rating_revision(request: HttpRequest, study_pk: int, number: int, pk: int) -> HttpResponse:
    """Let an earlier revision of one's own rating stand again, and show the pair as it is now."""
    found = load_held_assignment(request, study_pk, number)
    # Also what was said before the pair was asked again: lists of labels lead there.
    own = Rating.objects.filter(assignment__rater=person(request), assignment__study_pair=found.study_pair)
    earlier = get_object_or_404(own, pk=pk)
    with say_refusals(request, earlier_revisions.NothingToRestore):
        made = earlier_revisions.restore_earlier_revision(earlier, newest_in(request))
        messages.success(request, restored_message(earlier, made))
    return to_pair(found)


@require_role(Role.EXPERT, FORM)
def leave_study(request: HttpRequest, study_pk: int) -> HttpResponse:
    """Whether to end one's part early; a POST does it: what is open is given back, what was said stays."""
    enrolment = own_enrolment(request, study_pk)
    if not rater_studies.may_leave(enrolment):
        messages.info(request, "There is nothing to leave: your part of this study is over.")
        return to_study(study_pk)
    if request.method != "POST":
        return render(request, "annotation/rating/leave.html", {"page": leave_page(enrolment)})
    queue.leave_study(enrolment)
    messages.success(request, "Your part of this study is over. What you rated stays; thank you.")
    return to_study(study_pk)


def load_held_assignment(request: HttpRequest, study_pk: int, number: int) -> Assignment:
    """The person's assignment of the pair, without its texts. Raises Http404."""
    try:
        return queue.open_assignment(person(request), study_pk, number)
    except Assignment.DoesNotExist as none:
        raise Http404(str(none)) from none


def sent_in(request: HttpRequest) -> Sent:
    """What the form says, as it was typed."""
    return Sent(
        choice=request.POST.get("label", ""),
        notes=request.POST.get("notes", ""),
        reading=request.POST.get("reading", ""),
        reason=request.POST.get("reason", ""),
        tags=tuple(request.POST.getlist("tags")),
        lines=request.POST.get("lines", ""),
        no_test=request.POST.get("no_test", ""),
    )


def said_in(request: HttpRequest, found: Assignment) -> RaterStatement:
    """The same as a rating, with the calls and runs that were made for it. Raises BadRating."""
    sent, (calls, runs) = sent_in(request), ids_of(found)
    return RaterStatement(
        reason=sent.reason,
        notes=sent.notes,
        reading=sent.reading,
        tags=sent.tags,
        seconds=seconds_in(request.POST.get("seconds", "")),
        calls=calls,
        runs=runs,
        evidence=request.POST.get("evidence", ""),
        value=value_of(found, sent.choice),
        marked_lines=sent.lines,
        no_test=sent.no_test,
    )


def newest_in(request: HttpRequest) -> int | None:
    """The newest revision that the page knew; None where the form does not say."""
    return whole(request.POST, "seen_revision") if "seen_revision" in request.POST else None


def seconds_in(text: str) -> float:
    """Active seconds as the page counted them; 0 where it could not."""
    try:
        return float(text)
    except ValueError:
        return 0.0
