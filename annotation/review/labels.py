"""Reviews are only ever appended: a label, its change and its undo are revisions of one (pair, rater)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, QuerySet

from annotation.builds.pipeline.labels import publish_review
from annotation.draft_rules import StoredMeanwhile, Window
from annotation.models import Build, CallRequest, Case, Draft, ExecutionRequest, Rating, Review
from annotation.models.reviews.contradictions import refresh_contradictions
from annotation.models.reviews.labels_in_force import track_people
from annotation.models.reviews.marked_code import MARK_COLUMNS
from annotation.review import drafts
from annotation.review.evidence_hash import refuse_changed
from annotation.review.marked_lines import BadLines, MarkedLines, read_marked_lines
from annotation.review.tags import UnknownTag, tags_of
from retrieval.models import statements
from retrieval.models.prepared_query import PreparedQuery
from retrieval.texts.hostile import mark_hostile_characters

Revision = TypeVar("Revision", Rating, Review)
MOST_REASON = 10_000
UNDOABLE: Final = 20
"""So many of a person's decisions in a build can be taken back one after the other."""
RECENT: Final = 3 * UNDOABLE
"""How many of a person's latest revisions are looked at for it: each undo is a revision, too."""
SHOWN: Final = 10
"""How many of a person's latest decisions the page lists."""
MOST_SECONDS: Final = 4 * 3600
MOST_BEHIND: Final = 50
"""How many calls, and how many runs, are noted as what a label rests on: the latest."""
SAID: Final = (
    "case", "label", "agent_label", "reason", "tags", "seconds", "calls", "runs", "evidence", *MARK_COLUMNS,
)  # fmt: skip
"""What a revision says, and what it was given on."""
SENT_ALONG: Final = (Draft.Field.REASON, Draft.Field.TAGS, Draft.Field.LINES)
"""What a label takes along of what was typed, and what an undo gives back."""
CALLS: PreparedQuery[int] = PreparedQuery(
    lambda user, pair: (
        CallRequest.objects.filter(user=user, assignment=None, pair=pair)
        .order_by("-id")
        .values_list("pk", flat=True)[:MOST_BEHIND]
    ),
    *(int, int),
)
RUNS: PreparedQuery[int] = PreparedQuery(
    lambda user, pair: (
        ExecutionRequest.objects.filter(user=user, assignment=None, program__pair=pair)
        .order_by("-id")
        .values_list("pk", flat=True)[:MOST_BEHIND]
    ),
    *(int, int),
)
LAST_REVIEW: PreparedQuery[Review] = PreparedQuery(
    lambda pair, user: Review.objects.filter(pair=pair, rater=user).order_by("-id")[:1], int, int
)
LATELY_REVIEWED: PreparedQuery[int] = PreparedQuery(
    lambda user, build: (
        Review.objects.filter(rater=user, case__build=build)
        .order_by("-id")
        .values_list("pair_id", flat=True)[:RECENT]
    ),
    *(int, int),
)
WORDS = {1: "match", 0: "no match", None: "unsure"}
HASH = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Beside:
    """What goes with a label: tags by name, and the active seconds on the page, 0 where nobody counted.

    `window`: whose drafts it takes along; None: all of the pair. `lines`: those of the function that are the
    reason, such as `4-7`; empty for none.
    """

    tags: Sequence[str] = ()
    seconds: int = 0
    window: Window | None = None
    lines: str = ""


NOTHING_BESIDE: Final = Beside()


@dataclass(frozen=True)
class Submission:
    """What somebody wanted to store: 1 match, 0 no match, None unsure; with reason, tags, lines, if any."""

    label: int | None
    reason: str
    tags: tuple[str, ...] = ()
    lines: MarkedLines | None = None

    @property
    def word(self) -> str:
        return WORDS[self.label]


class BadReview(ValueError):
    """What was sent can't be a review; the message says what to change."""


class OverrideNeedsReason(ValueError):
    """The label differs from the agents'; nothing was stored."""

    def __init__(self, mine: Submission, agent_label: int) -> None:
        super().__init__(
            f"The agents said {WORDS[agent_label]}. Give a reason, a tag or lines for {mine.word}; "
            "nothing is stored yet."
        )
        self.mine = mine


class Conflict(StoredMeanwhile[Review, Submission | None]):
    """The person's own label was changed elsewhere since the page was served. `mine` is None for an undo."""

    words = (
        "Your label of this pair was changed in another window after this page was opened. "
        "Both are shown: choose which one counts."
    )


class NothingToUndo(ValueError):
    """There is no label of this person's on the pair that could be taken back."""


def submit_label(
    user: User,
    case: Case,
    label: int | None,
    reason: str,
    evidence_hash: str,
    seen_revision: int,
    beside: Beside = NOTHING_BESIDE,
) -> Review:
    """Store a label that somebody sends, on a page or over the API; the way in for both.

    Raises EvidenceChanged where the agents went on since the evidence was read, and what store_label raises.
    """
    refuse_changed(case, evidence_hash)
    return store_label(user, case, label, reason, evidence_hash, seen_revision, beside)


def store_label(
    user: User,
    case: Case,
    label: int | None,
    reason: str,
    evidence_hash: str,
    seen_revision: int,
    beside: Beside = NOTHING_BESIDE,
) -> Review:
    """Store and publish one label as the next revision; sending the same again returns what is stored.

    `seen_revision` is the revision of the person's own review that was on screen (0: none), `evidence_hash`
    the sha256 of the evidence. The person's calls and runs on the pair so far are noted with it.
    Raises BadReview, Conflict and OverrideNeedsReason; then nothing is stored.
    """
    mine = clean_submission(label, reason, evidence_hash, beside.tags)
    mine = replace(mine, lines=find_marked_lines(case, beside.lines))
    with transaction.atomic():
        last = last_review_of(case.pair_id, user)
        if last is not None and is_repeated(last, mine, seen_revision):
            # Where the answer got lost, the page has kept what it sent as a draft again.
            clear_drafts(user, case, beside.window)
            return last
        if revision_seen(last) != seen_revision:
            raise Conflict(last, mine)
        if is_override(mine, case.label) and not (mine.reason or mine.tags or mine.lines):
            assert case.label is not None, "an override contradicts a label"
            raise OverrideNeedsReason(mine, case.label)
        review = build_review(user, case, mine, evidence_hash, beside.seconds)
        try:
            append_review_revision(review, user, last, mine)
        except Conflict as lost:
            if lost.stored is not None and is_repeated(lost.stored, mine, seen_revision):
                return lost.stored  # both clicks of a double click were here at the same moment
            raise
        clear_drafts(user, case, beside.window)
    return review


def build_review(user: User, case: Case, mine: Submission, evidence_hash: str, seconds: int) -> Review:
    """The row of a label, not stored yet and without its revision."""
    marked = mine.lines.columns if mine.lines else {}
    review = Review(case=case, label=mine.label, reason=mine.reason, evidence=evidence_hash, **marked)
    review.agent_label, review.tags = case.label, list(mine.tags)
    review.seconds = max(0, min(seconds, MOST_SECONDS))
    review.calls, review.runs = rests_on(user, case.pair_id)
    return review


def clear_drafts(user: User, case: Case, window: Window | None) -> None:
    """What was sent with a label is no draft any more."""
    drafts.clear_drafts(user, case.pair_id, *SENT_ALONG, window=window)


def rests_on(user: User, pair_id: int) -> tuple[list[int], list[int]]:
    """The ids of the person's calls, and of the executions that they asked for, on the pair; oldest first."""
    return CALLS.load(user.pk, pair_id)[::-1], RUNS.load(user.pk, pair_id)[::-1]


def clean_submission(
    label: int | None, reason: str, evidence_hash: str, tags: Sequence[str] = ()
) -> Submission:
    """What was sent, cleaned. Raises BadReview."""
    if label not in WORDS:
        raise BadReview(f"A label is 1 (match), 0 (no match) or none (unsure), not {label!r}.")
    if not HASH.fullmatch(evidence_hash):
        raise BadReview("The hash of the evidence on screen is missing: reload the page and label again.")
    kept = mark_hostile_characters(reason).replace("\r\n", "\n").strip()
    if len(kept) > MOST_REASON:
        raise BadReview(f"A reason has at most {MOST_REASON:,} characters; this one has {len(kept):,}.")
    try:
        return Submission(label, kept, tuple(tags_of(tags)))
    except UnknownTag as why:
        raise BadReview(str(why)) from why


def find_marked_lines(case: Case, written: str) -> MarkedLines | None:
    """The lines of the case's function. Where none are written it asks no query. Raises BadReview."""
    try:
        return read_marked_lines(written, case.pair.snippet) if written.strip() else None
    except BadLines as why:
        raise BadReview(str(why)) from why


def marked_lines_of(review: Review) -> MarkedLines | None:
    """What a revision has marked."""
    if review.marked_first is None or review.marked_last is None:
        return None
    return MarkedLines(review.marked_first, review.marked_last, review.marked_code)


def is_override(mine: Submission, agent_label: int | None) -> bool:
    return mine.label is not None and agent_label is not None and mine.label != agent_label


def is_repeated(last: Review, mine: Submission, seen_revision: int) -> bool:
    """A double click, or a request sent again after its answer got lost."""
    said = Submission(last.label, last.reason, tuple(last.tags), marked_lines_of(last))
    return last.revision == seen_revision + 1 and not last.withdrawn and said == mine


def append_review_revision(review: Review, user: User, last: Review | None, mine: Submission | None) -> None:
    """Save as the revision after `last` and publish; note what that means for cases; in a transaction.

    Raises Conflict where another request was faster.
    """
    review.pair_id, review.rater, review.supersedes = review.case.pair_id, user, last
    review.revision = revision_seen(last) + 1
    with track_people([review.pair_id]):
        if not statements.insert_row(review, unless_there=True):
            raise Conflict(reviews_of(review.pair_id, user).last(), mine)
        publish_review(review)
        refresh_contradictions(review.pair_id)


def undo_latest_label(user: User, case: Case, seen_revision: int) -> Review:
    """Take back the person's latest label of the pair, by a revision that restores what stood before, if any.

    The reason that was typed for it, its tags and its lines go back into the drafts. Raises NothingToUndo
    and Conflict.
    """
    with transaction.atomic():
        revisions = list(reviews_of(case.pair_id, user))
        standing = standing_of(revisions, content_of_review)
        if not standing:
            raise NothingToUndo("You have no label on this pair to undo.")
        last = revisions[-1]
        if last.revision != seen_revision:
            raise Conflict(last, None)
        review = taken_back(last, standing[-2] if len(standing) > 1 else None)
        append_review_revision(review, user, last, None)
        sent = last.reason, " ".join(last.tags), last.marked_lines
        for field, text in zip(SENT_ALONG, sent, strict=True):
            if text:
                drafts.keep_if_none(user, case.pair_id, field, text)
    return review


def taken_back(last: Review, before: Review | None) -> Review:
    """The revision that restores `before`, or withdraws the label if nothing stood before."""
    if before is None:
        return Review(case=last.case, withdrawn=True, agent_label=last.agent_label, evidence=last.evidence)
    return repeat_review(before)


def repeat_review(review: Review) -> Review:
    """A row, not stored yet, that says the same on the same grounds."""
    return Review(**{name: getattr(review, name) for name in SAID})


def standing_of(revisions: Iterable[Revision], content: Callable[[Revision], object]) -> list[Revision]:
    """What an undo can go back through, of one person's revisions of one pair in order; the last one stands.

    A revision that says again what stood before the last one takes that one back, whichever way it was made:
    so a second undo goes one label further back, not forth again. `content` is what a revision says.
    """
    standing: list[Revision] = []
    for revision in revisions:
        if revision.withdrawn:
            standing.clear()
        elif len(standing) > 1 and content(revision) == content(standing[-2]):
            standing.pop()
        else:
            standing.append(revision)
    return standing


def content_of_review(review: Review) -> tuple[object, ...]:
    said = review.label, review.reason, tuple(review.tags), review.marked_lines
    return *said, review.agent_label, review.evidence, review.case_id


def last_action(user: User, build: Build) -> Review | None:
    """The person's latest standing label in the build: what the undo key takes back. Two queries."""
    return next(iter(recent_reviews_of_user(user, build)), None)


def recent_reviews_of_user(user: User, build: Build) -> list[Review]:
    """The last revision of each pair that the person has lately labelled in the build and that still is.

    The label that was given last comes first; at most those among the last RECENT revisions. Two queries.
    """
    pairs = set(LATELY_REVIEWED.load(user.pk, build.pk))
    by_pair: dict[int, list[Review]] = defaultdict(list)
    # What was asked comes with each as a column: rows of pair and query would be three times as many objects.
    heads = {"asked": F("pair__query__head")}
    revisions = Review.objects.filter(rater=user, pair__in=pairs).annotate(**heads)
    for review in revisions.order_by("revision"):
        by_pair[review.pair_id].append(review)
    return by_standing(list(by_pair.values()))


def by_standing(histories: Sequence[list[Review]]) -> list[Review]:
    """The last revision of each pair that has a label, in the order in which those labels were given."""
    found = [
        (standing[-1].pk, history[-1])
        for history in histories
        if (standing := standing_of(history, content_of_review))
    ]
    return [last for _, last in sorted(found, key=lambda pair: pair[0], reverse=True)]


def reviews_of(pair_id: int, user: User | None = None) -> QuerySet[Review]:
    """Every revision on a pair, of one person or of all, the oldest first."""
    reviews = Review.objects.filter(pair=pair_id).order_by("id")
    return reviews if user is None else reviews.filter(rater=user)


def last_review_of(pair_id: int, user: User) -> Review | None:
    """The person's last revision on a pair, also one that takes the label back."""
    return LAST_REVIEW.first(pair_id, user.pk)


def revision_seen(last: Review | None) -> int:
    """The number that a form must send back to prove what it was filled in beside."""
    return last.revision if last else 0
