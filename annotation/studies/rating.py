"""What raters say: each submit, change and undo appends one revision; nothing is ever changed or lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.models import Assignment, Condition, Enrolment, Rating, RatingDraft
from annotation.seen import seen_among
from annotation.studies import drafts, places, routing
from annotation.studies.checking import BadRating, Said, checked, value_of, values_of, word_of, words_of
from annotation.studies.places import CameTooLate, State
from annotation.studies.planning import freeze
from annotation.studies.queueing import LAPSED, RELATED, TRIES, Lapsed, QueueClosed
from retrieval.hostile import clean

__all__ = [
    "BadRating",
    "NothingToTakeBack",
    "RatedMeanwhile",
    "Said",
    "recent",
    "submit",
    "undo",
    "value_of",
    "word_of",
    "words_of",
]

Phase = Rating.Phase
UNDOABLE: Final = 20
"""So many of a rater's decisions can be taken back one after the other."""
LOOKED_AT: Final = 3 * UNDOABLE
"""How many of a rater's latest revisions are looked at for it: each undo is a revision, too."""


class RatedMeanwhile(Exception):
    """The rating was changed elsewhere since the page was served; nothing was stored.

    `stored` is what stands now (None: nothing), `mine` what was sent.
    """

    def __init__(self, stored: Rating | None, mine: Said) -> None:
        super().__init__(
            "Your rating of this pair was changed in another window after this page was opened. "
            "Both are shown: choose which one stands."
        )
        self.stored = stored
        self.mine = mine


class NothingToTakeBack(ValueError):
    """There is no decision that could be taken back; the message says why."""


def submit(assignment: Assignment, token: str, said: Said, seen_revision: int) -> Rating:
    """Store a rating as the next revision; sending the same again returns what is stored.

    A reserved pair gets its blind label; one that is locked its second label; of one that is done the last
    label is changed. `seen_revision` is `revision_seen` as the page was served. After a lapse it is stored
    if the place is still free.

    Raises BadRating, RatedMeanwhile, Lapsed and QueueClosed; nothing is stored then but a draft.
    """
    try:
        mine = checked(assignment, said)
        for _ in range(TRIES):
            try:
                return store(assignment.pk, token, mine, seen_revision)
            except (CameTooLate, IntegrityError):
                continue  # another request of the same rater, or a lapse, came in between: look again
        raise Lapsed(LAPSED)
    except (BadRating, RatedMeanwhile, Lapsed, QueueClosed):
        keep_as_draft(assignment, said)
        raise


def store(pk: int, token: str, mine: Said, seen_revision: int) -> Rating:
    """One try to store; raises CameTooLate and IntegrityError where another request was faster."""
    with transaction.atomic():
        now = Assignment.objects.select_related(*RELATED).get(pk=pk)
        phase = phase_of(now, token)
        last = last_of(now, phase)
        if last is not None and says(last, mine) and not last.withdrawn:
            drafts.clear_sent(now, drafts_of(now, mine), mine.tags)
            return last
        if revision_seen(last) != seen_revision or is_locked(now, phase, last):
            raise RatedMeanwhile(last, mine)
        refuse(now, phase, mine, last)
        routing.hold(now)
        advance(now, phase)
        made = appended(now, phase, mine, last)
        if now.enrolment.study.frozen_at is None:
            freeze(now.enrolment.study)
        if now.state == State.DONE:
            routing.settle(now.enrolment.study, now.study_pair)
        drafts.clear(now, *drafts.SUBMITTED)
    return made


def phase_of(assignment: Assignment, token: str) -> Phase:
    """What is said under this token: the second phase has another one than the blind label had."""
    locked = assignment.state in {State.LOCKED, State.DONE} and assignment.condition.has_second_phase
    if not locked or token != assignment.token:
        return Phase.BLIND
    return second_phase(assignment.condition)


def second_phase(condition: Condition) -> Phase:
    return Phase.REVISED if condition.kind == Condition.Kind.REVEAL else Phase.SECOND_LOOK


def last_of(assignment: Assignment, phase: str) -> Rating | None:
    """The last revision, also one that takes the rating back; all are read, as there are few."""
    said = (row for row in assignment.ratings.order_by() if row.phase == phase)
    return max(said, key=lambda row: row.revision, default=None)


def revision_seen(last: Rating | None) -> int:
    """The number that a form sends back to prove what it was filled in beside."""
    return last.revision if last else 0


def is_locked(assignment: Assignment, phase: str, last: Rating | None) -> bool:
    """Whether it is a blind label after which everything was shown, or might have been."""
    return phase == Phase.BLIND and assignment.condition.has_second_phase and last is not None


def says(stored: Rating, mine: Said) -> bool:
    """A double click, or a request sent again after its answer got lost, or no change at all."""
    theirs = stored.value, stored.reason, stored.notes, stored.reading, tuple(stored.tags)
    return theirs == (mine.value, mine.reason, mine.notes, mine.reading, mine.tags)


def refuse(now: Assignment, phase: str, mine: Said, last: Rating | None) -> None:
    """Raises QueueClosed after the end of the study, and BadRating where something is missing."""
    if not now.enrolment.study.is_live:
        raise QueueClosed("The study is closed. What you sent is kept as a draft and is not counted.")
    if phase == Phase.BLIND:
        if last is not None:
            refuse_if_seen(now)
        return
    before = last if last is not None and not last.withdrawn else last_of(now, Phase.BLIND)
    if before is not None and before.value != mine.value and not mine.reason:
        raise BadRating("Your label is another one now: give the reason. Nothing is stored yet.")


def refuse_if_seen(now: Assignment) -> None:
    """A blind label is not changed once its rater may know the agents'. Raises BadRating."""
    pair = now.study_pair
    shown = [one for one in (pair.pair_id, pair.other_id) if one is not None]
    knows = now.enrolment.finished_at is not None
    if knows if now.condition.kind == Condition.Kind.AGENTS_TESTS else seen_among([now.rater_id], shown):
        raise BadRating("You have seen what the agents said of this pair: your blind label stays as it is.")


def advance(now: Assignment, phase: str) -> None:
    """Move on after a rating. Raises CameTooLate, and Lapsed where the place is taken."""
    holds = now.state in places.HOLDING
    if not holds and not places.is_free(now):
        raise Lapsed(LAPSED)
    if now.state == State.DONE:
        return
    if phase == Phase.BLIND and now.condition.has_second_phase:
        places.move(now, State.LOCKED, token=places.new_token(), reserved_until=places.until())
    else:
        places.move(now, State.DONE, done_at=timezone.now())


def appended(
    now: Assignment, phase: str, mine: Said, last: Rating | None, *, withdrawn: bool = False
) -> Rating:
    """Save as the revision after `last`. Raises IntegrityError where another request was faster."""
    study = now.enrolment.study
    return Rating.objects.create(
        assignment=now,
        phase=phase,
        revision=revision_seen(last) + 1,
        supersedes=last,
        value=mine.value,
        withdrawn=withdrawn,
        reason=mine.reason,
        notes=mine.notes,
        reading=mine.reading,
        tags=list(mine.tags),
        seconds=mine.seconds,
        guideline_id=study.guideline_id,
        docstring=study.docstring,
        evidence=mine.evidence,
        calls=list(mine.calls),
        runs=list(mine.runs),
    )


def keep_as_draft(assignment: Assignment, said: Said) -> None:
    """What could not be stored stays where it was typed."""
    drafts.write(assignment, drafts_of(assignment, said))


def drafts_of(assignment: Assignment, said: Said | Rating) -> dict[str, str]:
    """A rating as drafts of its fields."""
    known = said.value in values_of(assignment.enrolment.study)
    words = [word_of(assignment, said.value)] if known else []
    field = RatingDraft.Field
    kept = {
        field.NOTES: said.notes,
        field.REASON: said.reason,
        field.READING: said.reading,
        field.CHOICE: " ".join([*words, *said.tags]),
    }
    return {name.value: clean(text)[: drafts.MOST] for name, text in kept.items()}


def undo(enrolment: Enrolment) -> Assignment:
    """Take back the rater's last decision, of the last 20; returns its assignment.

    A change restores what stood before; a label is withdrawn, and its pair is open again with what was said
    as drafts; a skipped pair is open again if its place is free. A blind label that is locked stays.

    Raises NothingToTakeBack.
    """
    found = undone(enrolment)
    routing.settle(enrolment.study)
    return found


def undone(enrolment: Enrolment) -> Assignment:
    """Raises NothingToTakeBack."""
    refuse_undo(enrolment)
    for _ in range(TRIES):
        standing, skipped = last_standing(enrolment), last_skip(enrolment)
        try:
            with transaction.atomic():
                if skipped and (not standing or standing[-1].created_at < skipped.reserved_until):
                    return opened_again(skipped)
                if not standing:
                    raise NothingToTakeBack("You have no decision in this study that could be taken back.")
                return taken_back(standing)
        except (CameTooLate, IntegrityError):
            continue
    raise NothingToTakeBack("The place of that pair has been given to another rater: it stays skipped.")


def refuse_undo(enrolment: Enrolment) -> None:
    if not enrolment.study.is_live:
        raise NothingToTakeBack("The study is closed: what was said stays.")


def last_standing(enrolment: Enrolment) -> list[Rating]:
    """The revisions of one (assignment, phase) that an undo goes back through, that of the latest one."""
    latest = Rating.objects.filter(assignment__enrolment=enrolment).order_by("-id")
    rows = Rating.objects.filter(assignment__in={row.assignment_id for row in latest[:LOOKED_AT]})
    histories: dict[tuple[int, str], list[Rating]] = defaultdict(list)
    for row in rows.order_by("id").select_related("assignment__condition"):
        if row.phase != Phase.BLIND or not row.assignment.condition.has_second_phase:
            histories[row.assignment_id, row.phase].append(row)
    found = [standing for rows in histories.values() if (standing := standing_of(rows))]
    return max(found, key=lambda standing: standing[-1].pk, default=[])


def standing_of(revisions: Iterable[Rating]) -> list[Rating]:
    """What an undo can go back through; a revision that says again what stood before took that one back."""
    standing: list[Rating] = []
    for row in revisions:
        if row.withdrawn:
            standing.clear()
        elif len(standing) > 1 and content(row) == content(standing[-2]):
            standing.pop()
        else:
            standing.append(row)
    return standing


def content(row: Rating) -> tuple[object, ...]:
    return row.value, row.reason, row.notes, row.reading, row.tags


def last_skip(enrolment: Enrolment) -> Assignment | None:
    """The pair that was skipped last; its reservation ended at that moment."""
    skipped = enrolment.assignments.filter(state=State.SKIPPED).select_related(*RELATED)
    return skipped.order_by("-reserved_until").first()


def opened_again(skipped: Assignment) -> Assignment:
    """Raises CameTooLate where the place is taken."""
    places.move(skipped, State.RESERVED, token=places.new_token(), reserved_until=places.until())
    go_on(skipped)
    return skipped


def taken_back(standing: Sequence[Rating]) -> Assignment:
    """Append what undoes the last of `standing`. Raises CameTooLate, IntegrityError, NothingToTakeBack."""
    last = standing[-1]
    now = Assignment.objects.select_related(*RELATED).get(pk=last.assignment_id)
    refuse_if_shown(now, last)
    newest = last_of(now, last.phase)
    if len(standing) > 1:
        again(now, standing[-2], newest)
        return now
    before = State.RESERVED if last.phase == Phase.BLIND else State.LOCKED
    places.move(now, before, done_at=None, reserved_until=places.until())
    go_on(now)
    again(now, last, newest, withdrawn=True)
    drafts.write(now, drafts_of(now, last), over=False)
    return now


def refuse_if_shown(now: Assignment, last: Rating) -> None:
    try:
        if last.phase == Phase.BLIND:
            refuse_if_seen(now)
    except BadRating as seen:
        raise NothingToTakeBack(str(seen)) from seen


def again(now: Assignment, said: Rating, last: Rating | None, *, withdrawn: bool = False) -> Rating:
    """Append a revision that says what `said` does, or takes it back."""
    mine = Said(
        value=None if withdrawn else said.value,
        reason=said.reason,
        notes=said.notes,
        reading=said.reading,
        tags=tuple(said.tags),
        seconds=said.seconds,
        calls=tuple(said.calls),
        runs=tuple(said.runs),
        evidence=said.evidence,
    )
    return appended(now, said.phase, mine, last, withdrawn=withdrawn)


def go_on(now: Assignment) -> None:
    """A rater who has a pair open is not finished, and blind again."""
    rows = Enrolment.objects.filter(pk=now.enrolment_id, finished_at__isnull=False)
    rows.update(finished_at=None, left_at=None)


def recent(enrolment: Enrolment, most: int = 10) -> list[Rating]:
    """The rater's last ratings as they stand, one a pair, the newest first: what a side list shows."""
    rows = Rating.objects.current().filter(assignment__enrolment=enrolment).order_by("-id")
    found: dict[int, Rating] = {}
    for row in rows.select_related("assignment__study_pair__pair__query")[: 2 * most]:
        row.assignment.enrolment = enrolment
        found.setdefault(row.assignment_id, row)
    return list(found.values())[:most]
