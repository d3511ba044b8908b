"""Undo: takes back the decision that a page names, and never one that was made since in another window."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import IntegrityError, transaction

from annotation.models import Assignment, Enrolment, Rating, RatingDraft
from annotation.review.labels import standing_of
from annotation.studies.adjudication.latest_round import asked_again, is_asked_again
from annotation.studies.enrolment import extra_raters, places
from annotation.studies.enrolment.places import CameTooLate, State
from annotation.studies.enrolment.queue import RELATED, REMOVED, TRIES
from annotation.studies.plan.form_checks import BadRating
from annotation.studies.rating import drafts
from annotation.studies.rating.ratings import (
    Phase,
    append_rating_revision,
    columns_of_statement,
    content_of_rating,
    drafts_of,
    last_of,
    refuse_if_final,
    revision_seen,
)
from retrieval.models.prepared_query import PreparedQuery

UNDOABLE: Final = 20
"""So many of a rater's decisions can be taken back one after the other."""
LOOKED_AT: Final = 3 * UNDOABLE
"""How many of a rater's latest revisions are looked at for it: each undo is a revision, too."""
LATELY_RATED: PreparedQuery[int] = PreparedQuery(
    lambda enrolment: (
        Rating.objects.filter(~asked_again("assignment__"), assignment__enrolment=enrolment)
        .order_by("-id")
        .values_list("assignment_id", flat=True)[:LOOKED_AT]
    ),
    int,
)
LATELY_SKIPPED: PreparedQuery[Assignment] = PreparedQuery(
    lambda enrolment: (
        Assignment.objects.filter(~asked_again(), enrolment=enrolment, state=State.SKIPPED)
        .select_related(*RELATED)
        .order_by("-reserved_until")[:UNDOABLE]
    ),
    int,
)
SKIP: Final = "skip"
NONE: Final = "You have no decision in this study to undo."
CHANGED: Final = (
    "You changed or undid this decision in another window, or its pair is asked again. "
    "The current label is kept; Undo here now undoes your latest decision."
)
NEWER: Final = (
    "What you have decided in another window since this page was opened stays; from here undo takes it back."
)
TAKEN: Final = "The place of that pair has been given to another rater: it stays skipped."


class NothingToTakeBack(ValueError):
    """There is no decision that could be taken back; the message says why."""


@dataclass(frozen=True, slots=True)
class UndoableDecision:
    """One that an undo can take back: a skip, or what stands of a pair in a phase, whose newest revision is
    `revision`. `standing` are the ratings that undos go back through, the last one stands.
    """

    of: Assignment
    phase: str
    revision: int
    at: datetime
    standing: tuple[Rating, ...] = ()

    @property
    def name(self) -> str:
        """What a page sends back to say which one it means."""
        return format_decision_key(self.of.pk, self.phase, self.revision)


def format_decision_key(assignment: int, phase: str, revision: int) -> str:
    return f"{assignment}.{phase}.{revision}"


def undo_decision(enrolment: Enrolment, wanted: str | None = None) -> Assignment:
    """Take back a decision of the rater's, of the last 20; returns its assignment.

    `wanted` is the name of the one that a page showed, empty where it showed none; without it the last one.
    A change restores what stood before; a label is withdrawn, and its pair is open again with what was said
    as drafts; a skipped pair is open again if its place is free. A blind label that is locked stays.

    Raises NothingToTakeBack, also where another one stands now than the page showed.
    """
    found = try_undo_decision(enrolment, wanted)
    extra_raters.request_extra_ratings(enrolment.study)
    return found


def try_undo_decision(enrolment: Enrolment, wanted: str | None) -> Assignment:
    """Raises NothingToTakeBack."""
    refuse_undo(Enrolment.objects.select_related("study").get(pk=enrolment.pk))
    for _ in range(TRIES):
        decision = choose_decision_to_undo(enrolment, wanted)
        try:
            with transaction.atomic():
                if places.hold_part(enrolment.pk):
                    raise NothingToTakeBack(REMOVED)
                if decision.phase == SKIP:
                    return opened_again(decision.of)
                return taken_back(decision)
        except (CameTooLate, IntegrityError):
            continue
    raise NothingToTakeBack(TAKEN)


def choose_decision_to_undo(enrolment: Enrolment, wanted: str | None) -> UndoableDecision:
    """Raises NothingToTakeBack."""
    every = find_undoable_decisions(enrolment)
    found = every if wanted is None else [decision for decision in every if decision.name == wanted]
    if not found:
        raise NothingToTakeBack(CHANGED if wanted else NEWER if every else NONE)
    return found[0]


def last_decision(enrolment: Enrolment) -> UndoableDecision | None:
    """What an undo would take back now. Three queries."""
    return next(iter(find_undoable_decisions(enrolment)), None)


def find_undoable_decisions(enrolment: Enrolment) -> list[UndoableDecision]:
    """All that can be taken back, the latest first. What was decided before a pair was asked again stays: it
    would be open in a round that is over, behind the one that its pages show.
    """
    found = [*find_rated_decisions(enrolment), *find_skip_decisions(enrolment)]
    return sorted(found, key=lambda one: (one.at, one.standing[-1].pk if one.standing else 0), reverse=True)


def find_rated_decisions(enrolment: Enrolment) -> Iterable[UndoableDecision]:
    """Of each (assignment, phase) that was rated lately, what stands."""
    latest = set(LATELY_RATED.load(enrolment.pk))
    rows = Rating.objects.filter(assignment__in=latest)
    histories: dict[tuple[int, str], list[Rating]] = defaultdict(list)
    for row in rows.order_by("id").select_related("assignment__condition", "assignment__study_pair"):
        if row.phase != Phase.BLIND or not row.assignment.condition.has_second_phase:
            histories[row.assignment_id, row.phase].append(row)
    for history in histories.values():
        if standing := tuple(standing_of(history, content_of_rating)):
            newest, at = history[-1], standing[-1].created_at
            yield UndoableDecision(newest.assignment, newest.phase, newest.revision, at, standing)


def find_skip_decisions(enrolment: Enrolment) -> Iterable[UndoableDecision]:
    """The pairs that were skipped last; a reservation ended at that moment."""
    for row in LATELY_SKIPPED.load(enrolment.pk):
        yield UndoableDecision(row, SKIP, 0, row.reserved_until)


def refuse_undo(enrolment: Enrolment) -> None:
    if not enrolment.study.is_live:
        raise NothingToTakeBack("The study is closed: what was said stays.")
    if enrolment.removed:
        raise NothingToTakeBack(REMOVED)


def opened_again(skipped: Assignment) -> Assignment:
    """Raises CameTooLate where the place is taken, and NothingToTakeBack where a label would not be blind."""
    refuse_if_shown(skipped, Phase.BLIND, None)
    places.hold_anew(skipped, State.RESERVED)
    resume_blind_rating(skipped)
    drafts.store_drafts(skipped, {RatingDraft.Field.SKIP.value: skipped.skip_reason}, over=False)
    return skipped


def taken_back(decision: UndoableDecision) -> Assignment:
    """Append what undoes it. Raises CameTooLate, IntegrityError, NothingToTakeBack."""
    standing: Sequence[Rating] = decision.standing
    last = standing[-1]
    now = Assignment.objects.select_related(*RELATED).get(pk=last.assignment_id)
    newest = last_of(now, last.phase)
    if revision_seen(newest) != decision.revision or is_asked_again(now):
        raise CameTooLate  # said again in another window, or asked again, between the look and now
    refuse_if_shown(now, last.phase, newest)
    if len(standing) > 1:
        append_repeated_revision(now, standing[-2], newest)
        return now
    before = State.RESERVED if last.phase == Phase.BLIND else State.LOCKED
    places.change_assignment_state(
        now, before, done_at=None, reserved_until=places.compute_reservation_expiry()
    )
    resume_blind_rating(now)
    append_repeated_revision(now, last, newest, withdrawn=True)
    drafts.store_drafts(now, drafts_of(now, last), over=False)
    return now


def refuse_if_shown(now: Assignment, phase: str, last: Rating | None) -> None:
    """Raises NothingToTakeBack where the rater has been shown what a label of this phase is given without."""
    try:
        refuse_if_final(now, phase, last)
    except BadRating as seen:
        raise NothingToTakeBack(str(seen)) from seen


def append_repeated_revision(
    now: Assignment, said: Rating, last: Rating | None, *, withdrawn: bool = False
) -> Rating:
    """Append a revision that says what `said` does, or takes it back."""
    columns = columns_of_statement(now, said) | ({"value": None} if withdrawn else {})
    return append_rating_revision(now, said.phase, last, withdrawn=withdrawn, **columns)


def resume_blind_rating(now: Assignment) -> None:
    """A rater who has a pair open is not finished, and blind again."""
    rows = Enrolment.objects.filter(pk=now.enrolment_id, finished_at__isnull=False)
    rows.update(finished_at=None, left_at=None)
