"""What raters say: each submit, change and undo appends one revision; nothing is ever changed or lost."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation import draft_rules
from annotation.models import Assignment, Condition, Enrolment, Rating, RatingDraft
from annotation.models.reviews.marked_code import MARK_COLUMNS
from annotation.studies.adjudication.latest_round import asked_again, is_asked_again
from annotation.studies.enrolment import extra_raters, places
from annotation.studies.enrolment.places import CameTooLate, State
from annotation.studies.enrolment.queue import (
    ASKED_AGAIN,
    LAPSED,
    RELATED,
    REMOVED,
    TRIES,
    Lapsed,
    QueueClosed,
)
from annotation.studies.exposure import is_exposed_to_pairs
from annotation.studies.plan.form_checks import (
    BadRating,
    RaterStatement,
    clean_rater_statement,
    find_marked_lines,
    values_of,
    word_of,
)
from annotation.studies.plan.plan import freeze_plan
from annotation.studies.rating import drafts, shown_pair
from annotation.studies.rating.required_run import refuse_label_without_run
from retrieval.models import statements
from retrieval.models.prepared_query import PreparedQuery
from retrieval.texts.hostile import mark_hostile_characters

Phase = Rating.Phase
STATED: Final = tuple(field.name for field in fields(RaterStatement) if field.name != "marked_lines")
"""What a statement calls as a rating's columns do."""
RECENT: Final = 10
"""How many ratings a side list shows at most."""
LATELY_RATED: PreparedQuery[Rating] = PreparedQuery(
    lambda enrolment: (
        Rating.objects.current()
        .filter(~asked_again("assignment__"), assignment__enrolment=enrolment)
        .select_related("assignment__study_pair__pair__query")
        .order_by("-id")[: 2 * RECENT]
    ),
    int,
)
AS_IT_IS: PreparedQuery[Assignment] = PreparedQuery(
    lambda pk: Assignment.objects.filter(pk=pk).select_related(*RELATED).order_by(), int
)
OF_ASSIGNMENT: PreparedQuery[Rating] = PreparedQuery(
    lambda assignment: Rating.objects.filter(assignment=assignment).order_by("id"), int
)
ONLY_DRAFT: Final = "What you sent is kept as a draft and is not counted."
FINAL: Final = (
    "Your part of this study was over, and since then you could see what agents and others said of its "
    "pairs: your earlier answers can't be changed."
)
ANEW: Final = (
    "This pair is asked again, and your page was opened before that. Your answer is in the form: give it "
    "again. Nothing is stored yet."
)


class RatedMeanwhile(draft_rules.StoredMeanwhile[Rating, RaterStatement]):
    """The rating was changed elsewhere since the page was served; nothing was stored."""

    words = (
        "Your rating of this pair was changed in another window after this page was opened. "
        "Both are shown: choose which one counts."
    )


def submit_rating(
    assignment: Assignment,
    token: str,
    said: RaterStatement,
    seen_revision: int,
    window: draft_rules.Window | None = None,
) -> Rating:
    """Store a rating as the next revision; sending the same again returns what is stored.

    A reserved pair gets its blind label; one that is locked its second label; of one that is done the last
    label is changed. `seen_revision` is `revision_seen` as the page was served. After a lapse it is stored
    if the place is still free. Drafts that another `window` has kept since stay as they are.

    Raises BadRating, RatedMeanwhile, Lapsed and QueueClosed; nothing is stored then but a draft.
    """
    try:
        mine = clean_rater_statement(assignment, said)
        for _ in range(TRIES):
            try:
                return try_store_rating(assignment, token, mine, seen_revision, window)
            except (CameTooLate, IntegrityError):
                continue  # another request of the same rater, or a lapse, came in between: look again
        raise Lapsed(LAPSED)
    except (BadRating, RatedMeanwhile, Lapsed, QueueClosed):
        keep_as_draft(assignment, said, window)
        raise


def try_store_rating(
    assignment: Assignment,
    token: str,
    mine: RaterStatement,
    seen_revision: int,
    window: draft_rules.Window | None,
) -> Rating:
    """One try to store; raises CameTooLate and IntegrityError where another request was faster."""
    with transaction.atomic():
        extra_raters.hold_part(assignment)
        (now,) = AS_IT_IS.load(assignment.pk)
        phase = phase_of(now, token)
        last = last_of(now, phase)
        refuse_earlier_round(now, token, last)
        if last is not None and content_of_rating(last) == content_of_rating(mine) and not last.withdrawn:
            drafts.clear_sent(now, drafts_of(now, mine), mine.tags)
            return last
        refuse_if_over(now)
        if revision_seen(last) != seen_revision or is_locked(now, phase, last):
            raise RatedMeanwhile(last, mine)
        refuse_bad_rating(now, phase, mine, last)
        if now.enrolment.study.frozen_at is None:
            freeze_plan(now.enrolment.study)  # amendments lock the study before any quota, too
        extra_raters.lock_pair_quotas(now)
        advance_assignment(now, phase)
        made = append_rating_revision(now, phase, last, **columns_of_statement(now, mine))
        if now.state == State.DONE:
            extra_raters.request_extra_ratings(now.enrolment.study, now.study_pair)
        drafts.clear_sent_drafts(now, *drafts.SUBMITTED, window=window)
    return made


def phase_of(assignment: Assignment, token: str) -> Phase:
    """What is said under this token: the second phase has another one than the blind label had."""
    return shown_pair.phase_of(assignment) if token == assignment.token else Phase.BLIND


def ratings_of(assignment: Assignment) -> list[Rating]:
    """All revisions of the assignment, the oldest first."""
    found = OF_ASSIGNMENT.load(assignment.pk)
    for rating in found:
        rating.assignment = assignment
    return found


def last_of(assignment: Assignment, phase: str) -> Rating | None:
    """The last revision, also one that takes the rating back; all are read, as there are few."""
    said = (row for row in ratings_of(assignment) if row.phase == phase)
    return max(said, key=lambda row: row.revision, default=None)


def revision_seen(last: Rating | None) -> int:
    """The number that a form sends back to prove what it was filled in beside."""
    return last.revision if last else 0


def is_locked(assignment: Assignment, phase: str, last: Rating | None) -> bool:
    """Whether it is a blind label after which everything was shown, or might have been."""
    return phase == Phase.BLIND and assignment.condition.has_second_phase and last is not None


def refuse_earlier_round(now: Assignment, token: str, last: Rating | None) -> None:
    """Raises Lapsed for a rating of a round that is over, also where it says nothing new: it counts nowhere.

    Raises BadRating for what was sent from a page of such a round where nothing is said yet in the new one.
    """
    if now.state == State.DONE and is_asked_again(now):
        raise Lapsed(ASKED_AGAIN)
    if last is None and now.round > 1 and token != now.token and is_of_earlier_round(now, token):
        raise BadRating(ANEW)


def is_of_earlier_round(now: Assignment, token: str) -> bool:
    """Whether the rater was given the pair under this token before it was asked again."""
    mine = Assignment.objects.filter(rater=now.rater_id, study_pair=now.study_pair_id, round__lt=now.round)
    return mine.filter(token=mark_hostile_characters(token)).exists()


def refuse_if_over(now: Assignment) -> None:
    """Raises QueueClosed where nothing counts any more: after the end of the study or of the rater's part."""
    if not now.enrolment.study.is_live:
        raise QueueClosed(f"The study is closed. {ONLY_DRAFT}")
    if now.enrolment.removed:
        raise QueueClosed(f"{REMOVED} {ONLY_DRAFT}")


def refuse_bad_rating(now: Assignment, phase: str, mine: RaterStatement, last: Rating | None) -> None:
    """Raises BadRating where something is missing, or where the rater has seen too much."""
    if last is not None or now.state not in places.HOLDING:
        refuse_if_final(now, phase, last)
    refuse_label_without_run(now, mine)
    if phase == Phase.BLIND:
        return
    before = last if last is not None and not last.withdrawn else last_of(now, Phase.BLIND)
    if before is not None and before.value != mine.value and not mine.reason:
        raise BadRating("Your label is another one now: give the reason. Nothing is stored yet.")


def refuse_if_final(now: Assignment, phase: str, last: Rating | None) -> None:
    """Raises BadRating where the rater has seen too much since `last` was said, or the pair was skipped.

    After their part is over, that is any page closed to raters; before, a verdict about the pair.
    """
    shown = now.enrolment.shown_at
    if shown is not None and (last or now).created_at <= shown:
        raise BadRating(FINAL)
    if phase != Phase.REVISED:
        refuse_if_seen(now)


def refuse_if_seen(now: Assignment) -> None:
    """A label that was given without the agents' is not changed once its rater may know theirs, or others'.

    Nor is one given then for a pair that was skipped or has lapsed. Raises BadRating.
    """
    pair = now.study_pair
    shown = [one for one in (pair.pair_id, pair.other_id) if one is not None]
    if is_exposed_to_pairs(
        now.rater_id, shown, beyond_test=now.condition.kind == Condition.Kind.AGENTS_TESTS
    ):
        raise BadRating(
            "You have seen what agents or others said of this pair: your earlier answer can't be changed."
        )


def advance_assignment(now: Assignment, phase: str) -> None:
    """Move on after a rating. Raises CameTooLate, and Lapsed where the place is taken."""
    holds = now.state in places.HOLDING
    if not holds and not places.is_free(now):
        raise Lapsed(ASKED_AGAIN if is_asked_again(now) else LAPSED)
    if now.state == State.DONE:
        return
    if phase == Phase.BLIND and now.condition.has_second_phase:
        places.hold_anew(now, State.LOCKED)
    else:
        places.change_assignment_state(now, State.DONE, done_at=timezone.now())


def append_rating_revision(now: Assignment, phase: str, last: Rating | None, **columns: Any) -> Rating:
    """Save as the revision after `last`. Raises IntegrityError where another request was faster."""
    number = revision_seen(last) + 1
    row = Rating(assignment=now, phase=phase, revision=number, supersedes=last, **columns)
    statements.insert_row(row)
    return row


def columns_of_statement(now: Assignment, said: Rating | RaterStatement) -> dict[str, Any]:
    """What is said, as the study asks it now."""
    study, found = now.enrolment.study, {name: getattr(said, name) for name in STATED}
    lists = {name: list(found[name]) for name in ("tags", "calls", "runs")}
    return (
        found
        | lists
        | marks_of(now, said)
        | {"guideline_id": study.guideline_id, "docstring": study.docstring}
    )


def marks_of(now: Assignment, said: Rating | RaterStatement) -> dict[str, Any]:
    """The columns of the lines that are marked."""
    if isinstance(said, Rating):
        return {name: getattr(said, name) for name in MARK_COLUMNS}
    marked = find_marked_lines(now, said.marked_lines)
    return dict(marked.columns) if marked else {}


def keep_as_draft(assignment: Assignment, said: RaterStatement, window: draft_rules.Window | None) -> None:
    """What could not be stored stays where it was typed."""
    drafts.store_drafts(assignment, drafts.not_of_others(assignment, drafts_of(assignment, said), window))


def drafts_of(assignment: Assignment, said: RaterStatement | Rating) -> dict[str, str]:
    """A rating as drafts of its fields."""
    known = said.value in values_of(assignment.enrolment.study)
    words = [word_of(assignment, said.value)] if known else []
    field = RatingDraft.Field
    kept = {
        field.NOTES: said.notes,
        field.REASON: said.reason,
        field.READING: said.reading,
        field.LINES: said.marked_lines,
        field.NO_TEST: said.no_test,
        field.CHOICE: " ".join([*words, *said.tags]),
    }
    return {
        name.value: mark_hostile_characters(text)[: draft_rules.MAX_CHARACTERS] for name, text in kept.items()
    }


def content_of_rating(said: Rating | RaterStatement) -> tuple[object, ...]:
    tags = tuple(said.tags)
    return said.value, said.reason, said.notes, said.reading, tags, said.marked_lines, said.no_test


def find_recent_ratings(enrolment: Enrolment, most: int = RECENT) -> list[Rating]:
    """The rater's last ratings as they stand, one a pair, the newest first: what a side list shows.

    What was said of a pair before it was asked again is not among them: it is rated anew, blind.
    """
    found: dict[int, Rating] = {}
    for row in LATELY_RATED.load(enrolment.pk):
        row.assignment.enrolment = enrolment
        found.setdefault(row.assignment_id, row)
    return list(found.values())[:most]
