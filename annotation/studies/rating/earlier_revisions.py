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
from annotation.models.reviews.marked_code import MARK_COLUMNS
from annotation.review.earlier_revisions import CHANGED
from annotation.studies.adjudication.latest_round import is_asked_again
from annotation.studies.audit_log import Verb, append_audit_event
from annotation.studies.enrolment import extra_raters
from annotation.studies.enrolment.places import CameTooLate, State
from annotation.studies.enrolment.queue import LAPSED, RELATED, REMOVED, TRIES, Lapsed
from annotation.studies.plan.form_checks import BadRating
from annotation.studies.rating.ratings import (
    Phase,
    advance_assignment,
    append_rating_revision,
    content_of_rating,
    last_of,
    refuse_if_final,
    revision_seen,
)

KEPT: Final = (
    "value", "reason", "notes", "reading", "tags", "guideline", "docstring", "evidence", "calls", "runs",
    "no_test", *MARK_COLUMNS,
)  # fmt: skip
"""What a revision that stands again takes along."""
ASKED_AGAIN: Final = "This pair is asked again: your earlier answer is kept, and you give a new one."


class NothingToRestore(ValueError):
    """The revision can't stand again; the message says why."""


def may_stand_again(earlier: Rating) -> bool:
    """Whether it is worth trying: what can be told without another look. Read with study and condition."""
    return not describe_restore_refusal(earlier.assignment, earlier)


def restore_earlier_revision(earlier: Rating, seen_revision: int | None = None) -> Rating:
    """The new revision that says what `earlier` said. Raises NothingToRestore.

    `seen_revision` is the newest one that the page knew: another one that was added since is not overridden.
    """
    for _ in range(TRIES):
        try:
            with transaction.atomic():
                return try_restore_revision(earlier, seen_revision)
        except (CameTooLate, IntegrityError):
            continue  # another request of the same rater, or a lapse, came in between: look again
        except (BadRating, Lapsed) as why:
            raise NothingToRestore(str(why)) from why
    raise NothingToRestore(LAPSED)


def try_restore_revision(earlier: Rating, seen_revision: int | None) -> Rating:
    """One try. Raises CameTooLate and IntegrityError where another request was faster."""
    extra_raters.hold_part(earlier.assignment)
    now = Assignment.objects.select_related(*RELATED, "enrolment__study", "rater").get(
        pk=earlier.assignment_id
    )
    last = last_of(now, earlier.phase)
    if seen_revision is not None and revision_seen(last) != seen_revision:
        raise NothingToRestore(CHANGED)
    refuse_bad_restore(now, earlier, last)
    extra_raters.lock_pair_quotas(now)
    advance_assignment(now, earlier.phase)
    made = append_restored_revision(now, earlier, last)
    if now.state == State.DONE:
        extra_raters.request_extra_ratings(now.enrolment.study, now.study_pair)
    detail = {"pair": now.study_pair.number, "phase": earlier.phase, "revision": earlier.revision}
    study, what = now.enrolment.study, f"own rating of pair {now.study_pair.number}"
    append_audit_event(now.rater, Verb.RESTORED, what, study, {**detail, "as": made.revision})
    return made


def refuse_bad_restore(now: Assignment, earlier: Rating, last: Rating | None) -> None:
    """Raises NothingToRestore, and BadRating where the rater may know what agents said."""
    why = describe_restore_refusal(now, earlier)
    if why:
        raise NothingToRestore(why)
    if is_asked_again(now):
        raise NothingToRestore(ASKED_AGAIN)
    if last is not None and not last.withdrawn and content_of_rating(last) == content_of_rating(earlier):
        raise NothingToRestore("That is the current label.")
    refuse_if_final(now, earlier.phase, last)


def describe_restore_refusal(now: Assignment, earlier: Rating) -> str:
    """Why the rules forbid it; empty where they don't."""
    if earlier.withdrawn:
        return "That revision took a rating back: there is nothing in it to restore."
    if not now.enrolment.study.is_live:
        return "The study is closed: what was said stays."
    if earlier.phase == Phase.BLIND and now.condition.has_second_phase:
        return "A locked first answer can't be changed."
    if now.enrolment.removed:
        return REMOVED
    if now.state == State.SKIPPED:
        return "You skipped this pair. Undo that first, if its place is still free."
    return ""


def append_restored_revision(now: Assignment, earlier: Rating, last: Rating | None) -> Rating:
    """The same again; only the time on the pair goes on."""
    kept = {name: getattr(earlier, name) for name in KEPT}
    seconds = max(earlier.seconds, last.seconds if last else 0)
    return append_rating_revision(now, earlier.phase, last, seconds=seconds, **kept)
