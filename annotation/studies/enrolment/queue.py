"""Handing out: the pair that a rater is given next, the reservation that holds it, and how it ends.

A reservation is one short transaction: the place in the quota, then the assignment. Whoever loses a race
looks again; a rater has one pair open at a time, in however many windows.
"""

from __future__ import annotations

from datetime import datetime
from operator import attrgetter
from typing import Final

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation import draft_rules
from annotation.models import Assignment, Enrolment, RatingDraft, Study
from annotation.studies.enrolment import extra_raters, next_pair, places
from annotation.studies.enrolment.next_pair import NextPairChoice
from annotation.studies.enrolment.places import LEASE, CameTooLate, State
from annotation.studies.plan.guidelines import has_acknowledged_guideline
from annotation.studies.rating import drafts
from retrieval.models.prepared_query import PreparedQuery
from retrieval.texts.hostile import mark_hostile_characters

TRIES: Final = 50
"""How often somebody who loses a race looks again; each time another rater has gone on."""
MOST_REASON: Final = 2_000
OPEN: Final = (State.RESERVED, State.LOCKED)
RELATED: Final = ("study_pair__pair", "condition", "enrolment__study")
OWN_PAIR: PreparedQuery[Assignment] = PreparedQuery(
    lambda user, study, number: (
        Assignment.objects.filter(rater=user, enrolment__study=study, study_pair__number=number)
        .select_related(*RELATED)
        .order_by()
    ),
    *(int, int, int),
)
UNFINISHED: PreparedQuery[str] = PreparedQuery(
    lambda enrolment: (
        Assignment.objects.filter(enrolment=enrolment, state__in=[*OPEN, State.LAPSED])
        .order_by()
        .values_list("state", flat=True)
    ),
    int,
)
LAPSED: Final = (
    "Your reservation of this pair ran out, and its place has been given to another rater. "
    "What you typed is kept, and nothing of it was stored as a rating. Continue with the next pair."
)

ASKED_AGAIN: Final = (
    "This pair is asked again, in a round of its own. What you typed is kept, and is there if the pair comes "
    "to you once more; nothing of it was stored as a rating. Continue with the next pair."
)
LEFT: Final = "You have left this study: you get no further pairs. Your ratings are kept."
REMOVED: Final = "An admin has ended your part of this study. Your ratings until then are kept."


class QueueClosed(Exception):
    """Nothing is handed out to this rater now; the message says why and what to do."""


class Lapsed(Exception):
    """The reservation ran out, or the pair is not held under this token any more; the draft is kept."""


class BadSkip(ValueError):
    """The pair can't be skipped; the message says why."""


def next_assignment(enrolment: Enrolment) -> Assignment | None:
    """What the rater is to do: the pair that is open, else another one, reserved now; None: nothing is left.

    Raises QueueClosed.
    """
    refuse_outsiders(enrolment)
    for _ in range(TRIES):
        states = find_unfinished_states(enrolment)
        if states & set(OPEN) and (held := open_of(enrolment)) is not None:
            return renew_reservation(held)
        if enrolment.finished_at is not None:
            return None
        if enrolment.study.state != Study.State.RUNNING:
            raise QueueClosed("The study is paused: no new pairs until it continues. Come back later.")
        expire_reservations(enrolment.study)
        choice = next_pair.choose_next_pair(enrolment, lapsed=State.LAPSED in states)
        if choice is None:
            if not end_if_over(enrolment):
                continue  # another window of the rater's was given the last pair
            return None
        try:
            return reserve_pair(enrolment, choice)
        except (CameTooLate, IntegrityError):
            continue  # another rater took the place, or another window of this one was faster
    raise QueueClosed("Too many raters ask for a pair at this moment. Wait some seconds and try again.")


def refuse_outsiders(enrolment: Enrolment) -> None:
    """Raises QueueClosed as `refuse_over`, and before information and guidelines are read."""
    refuse_over(enrolment)
    if enrolment.accepted_at is None:
        raise QueueClosed("Read the study's information and accept it; then you get your first pair.")
    if not has_acknowledged_guideline(enrolment.study, enrolment.user):
        raise QueueClosed("You have not read these guidelines yet. Read and confirm them to continue.")


def refuse_over(enrolment: Enrolment) -> None:
    """Raises QueueClosed for whoever launched the study or was removed from it, and where it does not run."""
    study = enrolment.study
    if enrolment.user_id == study.created_by_id:
        raise QueueClosed("You launched this study, so you can't rate in it.")
    if study.state not in {Study.State.RUNNING, Study.State.PAUSED}:
        known = "has not started yet" if study.state == Study.State.DRAFT else "is closed: thank you"
        raise QueueClosed(f"The study {known}.")
    if enrolment.removed:
        raise QueueClosed(REMOVED)


def find_unfinished_states(enrolment: Enrolment) -> set[str]:
    """The states of what the rater has not ended: mostly none, so that nothing more need be looked for."""
    return set(UNFINISHED.load(enrolment.pk))


def open_of(enrolment: Enrolment) -> Assignment | None:
    """The rater's open or locked assignment; of two that are open the one that was handed out first."""
    held = enrolment.assignments.filter(state__in=OPEN)
    return held.select_related(*RELATED).order_by("position").first()


def renew_reservation(held: Assignment) -> Assignment:
    """Hold on to it, unless its page has just reported anyway.

    One whose blind label is locked may have run out long ago: it has waited for this rater, and nobody else.
    Raises QueueClosed where the rater was removed meanwhile.
    """
    if held.reserved_until < timezone.now() + LEASE * 0.9:
        held.reserved_until = places.compute_reservation_expiry()
        with transaction.atomic():
            if places.hold_part(held.enrolment_id):
                raise QueueClosed(REMOVED)
            Assignment.objects.filter(pk=held.pk, state=held.state).update(reserved_until=held.reserved_until)
    return held


def reserve_pair(enrolment: Enrolment, choice: NextPairChoice) -> Assignment:
    """Take the place and hand the pair out. Raises CameTooLate, IntegrityError for a second window, and
    QueueClosed where the rater was removed, or left in another window, meanwhile.
    """
    with transaction.atomic():
        refuse_gone(enrolment.pk)
        if choice.lapsed is not None:
            take_back(choice.lapsed)
            return choice.lapsed
        place = choice.study_pair.pk, enrolment.condition_id, choice.round
        if not choice.planted and not places.take_rating_place(*place):
            raise CameTooLate
        return create_assignment(enrolment, choice)


def create_assignment(enrolment: Enrolment, choice: NextPairChoice) -> Assignment:
    """A new assignment of the pair, with what the rater had begun of it where it is asked again."""
    made = Assignment.objects.create(
        enrolment=enrolment,
        study_pair=choice.study_pair,
        condition=enrolment.condition,
        rater_id=enrolment.user_id,
        round=choice.round,
        position=choice.position,
        swapped=choice.swapped,
        token=places.new_token(),
        reserved_until=places.compute_reservation_expiry(),
    )
    if choice.round > 1:
        drafts.take_along(made)
    return made


def refuse_gone(enrolment: int) -> None:
    """Raises QueueClosed for who was removed or has left: nothing of the agents is closed to them any more.

    Else no admin ends the part before this transaction is over.
    """
    part = places.held_part(enrolment)
    if part.removed or part.left:
        raise QueueClosed(REMOVED if part.removed else LEFT)


def take_back(lapsed: Assignment) -> None:
    """Reserve a pair again that its rater had before; where the blind label is stored, for the second phase.

    Raises CameTooLate where its place is taken.
    """
    locked = lapsed.condition.has_second_phase and lapsed.ratings.exists()
    places.hold_anew(lapsed, State.LOCKED if locked else State.RESERVED)


def end_if_over(enrolment: Enrolment) -> bool:
    """Nothing can be handed out now: the rater's part ends, unless a place may still come free.

    False where the rater has a pair open by now: whoever has one is kept blind.
    """
    with transaction.atomic():
        places.pause_part(enrolment.pk)
        if enrolment.assignments.filter(state__in=OPEN).exists():
            return False
        if next_pair.may_come_free(enrolment):
            return True
        mark_rater_finished(enrolment)
    extra_raters.request_extra_ratings(enrolment.study)
    return True


def mark_rater_finished(enrolment: Enrolment) -> None:
    enrolment.finished_at = timezone.now()
    rows = Enrolment.objects.filter(pk=enrolment.pk, finished_at__isnull=True)
    rows.update(finished_at=enrolment.finished_at)


def open_assignment(user: User, study_pk: int, number: int) -> Assignment:
    """The person's assignment of a pair, whatever its state; of a pair asked again the last round.

    Raises Assignment.DoesNotExist.
    """
    found = OWN_PAIR.load(user.pk, study_pk, number)
    if not found:
        raise Assignment.DoesNotExist(f"pair {number} of study {study_pk} was never handed to this person")
    return max(found, key=attrgetter("round"))  # to have the database sort them is to name every column twice


def record_heartbeat(assignment: Assignment, token: str) -> datetime:
    """The page is still open: hold the pair on. Returns until when; raises Lapsed."""
    ends = places.compute_reservation_expiry()
    held = Assignment.objects.filter(pk=assignment.pk, token=mark_hostile_characters(token), state__in=OPEN)
    with transaction.atomic():
        if places.hold_part(assignment.enrolment_id):
            raise Lapsed(f"{REMOVED} What you typed is kept as a draft.")
        renewed = held.update(reserved_until=ends)
    if not renewed:
        raise Lapsed(
            "This pair is not reserved for this window any more. What you typed is kept; send it, and it is "
            "stored if the place is still free."
        )
    return ends


def skip_assignment(
    assignment: Assignment, token: str, reason: str, window: draft_rules.Window | None = None
) -> None:
    """Give the pair back, with a reason; it is not handed to this rater again. Raises BadSkip and Lapsed: the
    reason is kept as a draft then.

    Skipping twice is skipping once. A reason that another `window` has kept since stays as it is.
    """
    try:
        now = skipped_at_last(assignment, token, reason, window)
    except (BadSkip, Lapsed):
        kept = {RatingDraft.Field.SKIP.value: mark_hostile_characters(reason)[: draft_rules.MAX_CHARACTERS]}
        drafts.store_drafts(assignment, drafts.not_of_others(assignment, kept, window))
        raise
    reopen_finished_raters(now.enrolment.study)
    extra_raters.request_extra_ratings(now.enrolment.study, now.study_pair)


def skipped_at_last(
    assignment: Assignment, token: str, reason: str, window: draft_rules.Window | None
) -> Assignment:
    """Raises BadSkip and Lapsed."""
    why = mark_hostile_characters(reason).strip()
    if not why or len(why) > MOST_REASON:
        raise BadSkip(f"Say in a few words why you skip the pair, in at most {MOST_REASON:,} characters.")
    for _ in range(TRIES):
        try:
            return try_skip_assignment(assignment, token, why, window)
        except CameTooLate:
            continue  # it lapsed, or another window did something, between the look and the move
    raise Lapsed(LAPSED)


def try_skip_assignment(
    assignment: Assignment, token: str, why: str, window: draft_rules.Window | None
) -> Assignment:
    """One try. Raises BadSkip, Lapsed and CameTooLate."""
    with transaction.atomic():
        places.hold_part(assignment.enrolment_id)
        now = Assignment.objects.select_related(*RELATED).get(pk=assignment.pk)
        if now.state != State.SKIPPED:
            refuse_skip(now, token)
            places.change_assignment_state(now, State.SKIPPED, skip_reason=why, reserved_until=timezone.now())
        drafts.clear_sent_drafts(now, RatingDraft.Field.SKIP, window=window)
    return now


def refuse_skip(now: Assignment, token: str) -> None:
    """Raises BadSkip for what is stored, or where study or part are over; Lapsed for another window's."""
    if now.state in {State.LOCKED, State.DONE, State.LEFT_OUT}:
        raise BadSkip("Your label of this pair is stored, so the pair can't be skipped any more.")
    if not now.enrolment.study.is_live:
        raise BadSkip("The study is closed: no pair is skipped any more.")
    if now.enrolment.removed:
        raise BadSkip(REMOVED)
    if now.state == State.RESERVED and now.token != token:
        raise Lapsed("This pair is open in another window. Skip it there, or load this page again.")


def leave_study(enrolment: Enrolment) -> None:
    """End the rater's part early: what is open is given back, what was rated stays."""
    now = timezone.now()
    with transaction.atomic():
        places.pause_part(enrolment.pk)
        for held in enrolment.assignments.filter(state__in=OPEN).select_related("study_pair"):
            give_back(held)
        Enrolment.objects.filter(pk=enrolment.pk, left_at=None).update(left_at=now, finished_at=now)
    enrolment.left_at = enrolment.finished_at = now
    reopen_finished_raters(enrolment.study)
    extra_raters.request_extra_ratings(enrolment.study)


def reopen_finished_raters(study: Study) -> int:
    """Let raters go on who were finished and for whom something is there again; returns how many.

    To be called where a place comes free: one that was done may have been taken back before, when others were
    finished already. Whoever left stays away.
    """
    over = study.enrolments.filter(finished_at__isnull=False, left_at=None, excluded=False)
    back = [row.pk for row in over.select_related("study") if next_pair.choose_next_pair(row) is not None]
    return places.resume_finished_raters(back)


def give_back(held: Assignment) -> None:
    """End a reservation before its time; one that was rated meanwhile stays as it is."""
    places.try_state_change(held, State.LAPSED)


def expire_reservations(study: Study | None = None) -> int:
    """Give back the places of reservations that ran out, of one study or of all; returns how many.

    The drafts stay, and the rater gets the pair back if its place is still free. Where the blind label is
    locked the place stays with its rater: another one's second label would belong to no first one.
    """
    now = timezone.now()
    rows = Assignment.objects.filter(state=State.RESERVED, reserved_until__lt=now)
    if study is not None:
        rows = rows.filter(condition__study=study)
    if not rows.exists():
        return 0
    over = [
        row for row in rows.select_related("study_pair", "enrolment__study") if lapse_reservation(row, now)
    ]
    for one in {row.enrolment.study for row in over}:
        reopen_finished_raters(one)
    return len(over)


def lapse_reservation(assignment: Assignment, now: datetime) -> bool:
    """End one reservation, unless its rater has reported meanwhile."""
    return places.try_state_change(assignment, State.LAPSED, if_ended=now)
