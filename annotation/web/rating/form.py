"""The form in which a rater says what a pair is: choices, tags, texts, and what could not be stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.urls import reverse

from annotation.models import Assignment, Rating, RatingDraft, Study
from annotation.review.shortcuts import label_action
from annotation.review.tags import Tag, filter_known_tags
from annotation.studies.adjudication.latest_round import is_asked_again
from annotation.studies.plan.form_checks import word_of, words_of
from annotation.studies.rating import drafts, shown_pair
from annotation.studies.rating.earlier_revisions import describe_restore_refusal
from annotation.studies.rating.ratings import RatedMeanwhile, ratings_of, revision_seen
from annotation.web.rating.words import QUESTIONS, said_sign
from annotation.web.review.drafts import Typed, choose_field_text
from annotation.web.review.keys import KeyView
from annotation.web.review.tags import TagChoice, tag_choices
from annotation.web.review.words import describe_lines
from annotation.web.shared.words import Sign

Phase = Rating.Phase
State = Assignment.State
Field: Final = RatingDraft.Field
MOST_EARLIER: Final = 10


@dataclass(frozen=True, slots=True)
class Sent:
    """What a form had sent that could not be stored, to be shown again.

    `lost` says what became of the place where a skip was refused: of the label's form nothing was sent then.
    """

    choice: str = ""
    notes: str = ""
    reason: str = ""
    tags: tuple[str, ...] = ()
    problem: str = ""
    lapsed: bool = False
    conflict: RatedMeanwhile | None = None
    lost: str = ""
    skip_problem: str = ""
    skipping: str = ""
    reading: str = ""
    lines: str = ""
    no_test: str = ""


@dataclass(frozen=True, slots=True)
class RatingState:
    """What the rater has said and typed for an assignment so far: every revision, the oldest first.

    `asked_again`: its pair is, in a later round, so that nothing said here counts.
    """

    phase: str
    ratings: tuple[Rating, ...]
    drafts: Mapping[str, RatingDraft]
    asked_again: bool = False

    @property
    def last(self) -> Rating | None:
        """The last revision of this phase, also one that takes the rating back."""
        return self.last_in(self.phase)

    @property
    def current(self) -> Rating | None:
        """What stands in this phase."""
        return None if self.last is None or self.last.withdrawn else self.last

    @property
    def blind(self) -> Rating | None:
        """What stands of the phase before anything of the agents was shown."""
        last = self.last_in(Phase.BLIND)
        return None if last is None or last.withdrawn else last

    @property
    def seconds(self) -> float:
        """The active seconds of the last revision: where counting goes on."""
        return max((row.seconds for row in self.ratings), default=0.0)

    def last_in(self, phase: str) -> Rating | None:
        return next((row for row in reversed(self.ratings) if row.phase == phase), None)


@dataclass(frozen=True, slots=True)
class ScaleChoice:
    """One button of the scale. `word` is what the form sends."""

    word: str
    sign: Sign
    key: KeyView
    current: bool
    pending: bool = False


@dataclass(frozen=True, slots=True)
class Stored:
    """A rating as people read it."""

    sign: Sign
    notes: str
    reason: str
    tags: tuple[str, ...]
    at: datetime
    reading: str = ""
    lines: str = ""
    first_line: int | None = None


@dataclass(frozen=True, slots=True)
class Earlier:
    """A revision that does not stand any more, and where it is restored."""

    revision: int
    said: Stored
    url: str
    seen_revision: int


@dataclass(frozen=True, slots=True)
class Clash:
    """What is stored and what was sent, from two windows of one person."""

    message: str
    stored: Stored | None
    sent: Sign
    notes: str
    reason: str
    reading: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelForm:
    """All of the form. `second`: it is about the look after the blind label was locked.

    `lines`: those of the function that are marked; None where two snippets are compared. `no_test`: why no
    test is possible; None where a label needs no run.
    """

    scale: str
    question: str
    choices: tuple[ScaleChoice, ...]
    tags: tuple[TagChoice, ...]
    chosen: Typed
    notes: Typed
    reading: Typed
    lines: Typed | None
    no_test: Typed | None
    reason: Typed
    token: str
    seen_revision: int
    evidence: str
    can_rate: bool
    second: bool
    confirms: bool
    problem: str
    clash: Clash | None
    pending: ScaleChoice | None

    @property
    def pair_tags(self) -> tuple[TagChoice, ...]:
        return tuple(tag for tag in self.tags if not tag.of_test)

    @property
    def tags_set(self) -> int:
        """How many tags are ticked: they are folded."""
        return sum(tag.ticked for tag in self.tags)

    @property
    def test_tags(self) -> tuple[TagChoice, ...]:
        return tuple(tag for tag in self.tags if tag.of_test)


def standing_of(assignment: Assignment) -> RatingState:
    """Two queries, and one more where nothing is open."""
    ratings = tuple(ratings_of(assignment))
    again = not assignment.is_open and is_asked_again(assignment)
    return RatingState(shown_pair.phase_of(assignment), ratings, drafts.by_field(assignment), again)


def can_rate(assignment: Assignment, standing: RatingState) -> bool:
    """Whether anything that is sent now could be stored."""
    over = assignment.enrolment.removed or not assignment.enrolment.study.is_live
    return not (over or standing.asked_again or assignment.state == State.SKIPPED)


def label_form(
    assignment: Assignment, standing: RatingState, sent: Sent, keys: Mapping[str, KeyView], evidence: str
) -> LabelForm:
    """The form as it was sent, as it was kept, or as it is stored: the first of them that there is."""
    study, current = assignment.enrolment.study, standing.current
    stands, kept = current or standing.blind, standing.drafts
    drafted = kept.get(Field.CHOICE)
    chosen, tags = chosen_of(assignment, standing, sent)
    choices = choices_of(assignment, keys, stands, chosen)
    unstored = bool(sent.problem or sent.conflict)
    return LabelForm(
        scale=study.scale,
        question=QUESTIONS[study.scale],
        choices=choices,
        tags=tags_of(assignment, keys, tags),
        chosen=Typed(" ".join(filter(None, (chosen, *tags))), drafted.revision if drafted else ""),
        notes=choose_field_text(
            sent.notes, kept.get(Field.NOTES), stands.notes if stands else "", again=unstored
        ),
        reading=choose_field_text(
            sent.reading, kept.get(Field.READING), stands.reading if stands else "", again=unstored
        ),
        lines=read_marked_lines(assignment, standing, sent),
        no_test=read_no_test(assignment, standing, sent),
        reason=choose_field_text(
            sent.reason, kept.get(Field.REASON), current.reason if current else "", again=unstored
        ),
        token=assignment.token,
        seen_revision=revision_seen(standing.last),
        evidence=evidence,
        can_rate=can_rate(assignment, standing),
        second=standing.phase != Phase.BLIND,
        confirms=standing.phase != Phase.BLIND and current is None,
        problem=sent.problem,
        clash=clash_of(assignment, sent),
        pending=next((choice for choice in choices if choice.pending and unstored), None),
    )


def read_marked_lines(assignment: Assignment, standing: RatingState, sent: Sent) -> Typed | None:
    """The marked lines as sent, as kept, or as stored; None where no function could have them."""
    if assignment.enrolment.study.kind == Study.Kind.PAIRWISE:
        return None
    stands, draft = standing.current or standing.blind, standing.drafts.get(Field.LINES)
    stored = stands.marked_lines if stands else ""
    return choose_field_text(sent.lines, draft, stored, again=bool(sent.problem or sent.conflict))


def read_no_test(assignment: Assignment, standing: RatingState, sent: Sent) -> Typed | None:
    """Why no test is possible, as sent, as kept, or as stored; None where a label needs no run."""
    if not assignment.needs_run:
        return None
    stands, draft = standing.current or standing.blind, standing.drafts.get(Field.NO_TEST)
    stored = stands.no_test if stands else ""
    return choose_field_text(sent.no_test, draft, stored, again=bool(sent.problem or sent.conflict))


def chosen_of(assignment: Assignment, standing: RatingState, sent: Sent) -> tuple[str, list[Tag]]:
    """(the choice that waits to be sent, the tags that are set): as sent, as kept, or as stored."""
    if sent.choice or sent.tags or sent.problem or sent.conflict:
        return sent.choice, filter_known_tags(sent.tags)
    draft, stands = standing.drafts.get(Field.CHOICE), standing.current or standing.blind
    kept = draft.text.split() if draft else []
    words = words_of(assignment.enrolment.study)
    chosen = next((word for word in kept if word in words), "")
    return chosen, filter_known_tags(kept or (stands.tags if stands else ()))


def choices_of(
    assignment: Assignment, keys: Mapping[str, KeyView], stands: Rating | None, pending: str
) -> tuple[ScaleChoice, ...]:
    """The buttons of the study's scale, in its order."""
    study = assignment.enrolment.study
    forced = study.scale == Study.Scale.PREFERENCE and not study.ties  # then nobody can be unsure
    now = word_of(assignment, stands.value) if stands else ""
    return tuple(
        ScaleChoice(
            word,
            said_sign(study.scale, word),
            keys[label_action(study.scale, word)],
            word == now,
            word == pending,
        )
        for word in words_of(study)
        if not (forced and word == "unsure")
    )


def tags_of(assignment: Assignment, keys: Mapping[str, KeyView], ticked: list[Tag]) -> tuple[TagChoice, ...]:
    """The tags that make sense: those of a test where the agents' test is shown."""
    tests = shown_pair.shows_test(assignment) or shown_pair.shows_everything(assignment)
    return tuple(tag for tag in tag_choices(ticked, keys) if tests or not tag.of_test)


def build_stored_rating(assignment: Assignment, row: Rating) -> Stored:
    scale = assignment.enrolment.study.scale
    sign = said_sign(scale, word_of(assignment, row.value))
    return Stored(
        sign,
        row.notes,
        row.reason,
        tag_words(row.tags),
        row.created_at,
        row.reading,
        describe_lines(row),
        row.marked_first,
    )


def tag_words(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple(tag.word for tag in filter_known_tags(tags))


def earlier_of(assignment: Assignment, standing: RatingState) -> tuple[Earlier, ...]:
    """The revisions of this phase that can stand again, the newest first, each text once."""
    found = {content_of_rating(row): row for row in standing.ratings if row.phase == standing.phase}
    if standing.current is not None:
        found.pop(content_of_rating(standing.current), None)
    rows = sorted(found.values(), key=lambda row: row.pk, reverse=True)
    here, seen = ((assignment.enrolment.study_id, assignment.study_pair.number), revision_seen(standing.last))
    return tuple(
        Earlier(
            row.revision,
            build_stored_rating(assignment, row),
            reverse("rate-restore", args=[*here, row.pk]),
            seen,
        )
        for row in rows[:MOST_EARLIER]
        if not describe_restore_refusal(assignment, row)
    )


def content_of_rating(row: Rating) -> tuple[object, ...]:
    """What a revision says, to be told apart from what others say."""
    tags = tuple(map(str, row.tags))
    return (
        row.withdrawn, row.value, row.reason, row.notes, row.reading, tags, row.marked_lines, row.no_test
    )  # fmt: skip


def clash_of(assignment: Assignment, sent: Sent) -> Clash | None:
    if sent.conflict is None:
        return None
    theirs, scale = sent.conflict.stored, assignment.enrolment.study.scale
    return Clash(
        message=str(sent.conflict),
        stored=build_stored_rating(assignment, theirs) if theirs and not theirs.withdrawn else None,
        sent=said_sign(scale, sent.choice or "unsure"),
        notes=sent.notes,
        reason=sent.reason,
        reading=sent.reading,
        tags=tag_words(sent.tags),
    )
