"""Let an earlier revision of a rating stand again: appended as the next one, so that nothing is lost.

A rater may do so wherever they may change the rating by the form: not after the study's end, not a blind
label that is locked, or whose rater may know by now what agents said. What the revision rested on goes with
it: its calls, runs and evidence, its guidelines, and how docstrings were shown. The audit log tells which
one it was.
"""

from __future__ import annotations

from typing import Final

from django.db import IntegrityError, transaction

from annotation.models import Assignment, Rating
from annotation.review.restoring import CHANGED
from annotation.studies import routing
from annotation.studies.auditing import Verb, record
from annotation.studies.checking import BadRating
from annotation.studies.latest import is_asked_again
from annotation.studies.places import CameTooLate, State
from annotation.studies.queueing import LAPSED, RELATED, REMOVED, TRIES, Lapsed
from annotation.studies.rating import (
    Phase,
    advance,
    content,
    last_of,
    refuse_if_seen,
    revision_seen,
)

__all__ = ["NothingToRestore", "may_stand_again", "restore"]

ASKED_AGAIN: Final = (
    "This pair is asked again: what you said of it before stays as it is, and you say anew what it is."
)


class NothingToRestore(ValueError):
    """The revision can't stand again; the message says why."""


def may_stand_again(earlier: Rating) -> bool:
    """Whether it is worth trying: what can be told without another look. Read with study and condition."""
    return not refusal(earlier.assignment, earlier)


def restore(earlier: Rating, seen_revision: int | None = None) -> Rating:
    """The new revision that says what `earlier` said. Raises NothingToRestore.

    `seen_revision` is the newest one that the page knew: another one that was added since is not overridden.
    """
    for _ in range(TRIES):
        try:
            with transaction.atomic():
                return restored(earlier, seen_revision)
        except (CameTooLate, IntegrityError):
            continue  # another request of the same rater, or a lapse, came in between: look again
        except (BadRating, Lapsed) as why:
            raise NothingToRestore(str(why)) from why
    raise NothingToRestore(LAPSED)


def restored(earlier: Rating, seen_revision: int | None) -> Rating:
    """One try. Raises CameTooLate and IntegrityError where another request was faster."""
    routing.hold_part(earlier.assignment)
    now = Assignment.objects.select_related(*RELATED, "enrolment__study", "rater").get(
        pk=earlier.assignment_id
    )
    last = last_of(now, earlier.phase)
    if seen_revision is not None and revision_seen(last) != seen_revision:
        raise NothingToRestore(CHANGED)
    refuse(now, earlier, last)
    routing.hold(now)
    advance(now, earlier.phase)
    made = appended(now, earlier, last)
    if now.state == State.DONE:
        routing.settle(now.enrolment.study, now.study_pair)
    detail = {"pair": now.study_pair.number, "phase": earlier.phase, "revision": earlier.revision}
    study, what = now.enrolment.study, f"own rating of pair {now.study_pair.number}"
    record(now.rater, Verb.RESTORED, what, study, {**detail, "as": made.revision})
    return made


def refuse(now: Assignment, earlier: Rating, last: Rating | None) -> None:
    """Raises NothingToRestore, and BadRating where the rater may know what agents said."""
    why = refusal(now, earlier)
    if why:
        raise NothingToRestore(why)
    if is_asked_again(now):
        raise NothingToRestore(ASKED_AGAIN)
    if last is not None and not last.withdrawn and content(last) == content(earlier):
        raise NothingToRestore("That is what stands.")
    if earlier.phase != Phase.REVISED:
        refuse_if_seen(now)


def refusal(now: Assignment, earlier: Rating) -> str:
    """Why the rules forbid it; empty where they don't."""
    if earlier.withdrawn:
        return "That revision took a rating back: there is nothing in it to restore."
    if not now.enrolment.study.is_live:
        return "The study is closed: what was said stays."
    if earlier.phase == Phase.BLIND and now.condition.has_second_phase:
        return "A blind label that is locked stays as it is."
    if now.enrolment.removed:
        return REMOVED
    if now.state == State.SKIPPED:
        return "You skipped this pair. Undo that first, if its place is still free."
    return ""


def appended(now: Assignment, earlier: Rating, last: Rating | None) -> Rating:
    """The same again; only the time on the pair goes on."""
    return Rating.objects.create(
        assignment=now,
        phase=earlier.phase,
        revision=revision_seen(last) + 1,
        supersedes=last,
        value=earlier.value,
        reason=earlier.reason,
        notes=earlier.notes,
        reading=earlier.reading,
        tags=earlier.tags,
        seconds=max(earlier.seconds, last.seconds if last else 0),
        guideline_id=earlier.guideline_id,
        docstring=earlier.docstring,
        evidence=earlier.evidence,
        calls=earlier.calls,
        runs=earlier.runs,
    )
