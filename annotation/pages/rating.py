"""The page of one pair of a study, as its rater sees it in their condition.

Everything on a blind page comes from the texts of the pair and the study's tables. What the agents did is in
`agents` and nowhere else; it is None unless `showing.case_shown` finds that the condition shows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Condition, Guideline, Rating, RatingDraft, Study
from annotation.pages.code import Code, beginning
from annotation.pages.evidence import LONGEST_TEXT
from annotation.pages.names import NamesView, names_view
from annotation.pages.rating_agents import (
    AgentPanes,
    AgentPart,
    agent_panes,
    agent_part,
    candidate_side,
    prefix_of,
)
from annotation.pages.rating_runs import Editor, RunLine, call_box, editor_of, run_lines
from annotation.pages.rating_words import KINDS, QUESTIONS, said_sign
from annotation.pages.review_calls import CallBox
from annotation.pages.review_keys import KeyView, key_views
from annotation.pages.words import Sign
from annotation.review.shortcuts import Action, keys_of
from annotation.review.tags import MEANINGS, Tag, known
from annotation.review.tags import WORDS as TAG_WORDS
from annotation.studies import drafts, guiding, rating, running, showing, welcoming
from annotation.studies.rating import RatedMeanwhile, words_of
from annotation.studies.showing import Side
from annotation.studies.welcoming import Work

MOST_RECENT: Final = 10
LONGEST_TITLE: Final = 80
NO_KEY: Final = KeyView("", "")
STEPPING: Final = ("strength", "step_next", "step_previous", "step_failing", "step_follow")
Phase = Rating.Phase
State = Assignment.State
Field = RatingDraft.Field


@dataclass(frozen=True, slots=True)
class Typed:
    """What a text field starts with, and when its draft was kept (ISO; empty: it is no draft)."""

    text: str = ""
    draft_at: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """One button of the scale. `word` is what the form sends."""

    word: str
    sign: Sign
    key: KeyView
    current: bool
    pending: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True)
class TagBox:
    """One tag beside the label."""

    value: str
    word: str
    title: str
    key: KeyView
    on: bool


@dataclass(frozen=True, slots=True)
class SideView:
    """One snippet with the names that it lacks and its call box; `note` says what is not shown of it."""

    name: str
    code: Code
    docstrings: tuple[str, ...]
    note: str
    names: NamesView
    box: CallBox | None


@dataclass(frozen=True, slots=True)
class Stored:
    """A rating as people read it."""

    sign: Sign
    notes: str
    reason: str
    tags: tuple[str, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class Clash:
    """What is stored and what was sent, from two windows of one person."""

    message: str
    stored: Stored | None
    sent: Sign
    notes: str
    reason: str


@dataclass(frozen=True, slots=True)
class Decision:
    """One line of the list of the last decisions."""

    number: int
    url: str
    query: str
    sign: Sign
    at: datetime
    here: bool


@dataclass(frozen=True, slots=True)
class Guide:
    """The guidelines that hold, to be opened with one key; `unread`: they have changed since."""

    pk: int
    name: str
    html: str
    cases: tuple[dict[str, object], ...]
    note: str
    unread: bool


@dataclass(frozen=True, slots=True)
class Sent:
    """What a form had sent that could not be stored, to be shown again."""

    choice: str = ""
    notes: str = ""
    reason: str = ""
    tags: tuple[str, ...] = ()
    problem: str = ""
    lapsed: bool = False
    conflict: RatedMeanwhile | None = None
    skip_problem: str = ""


@dataclass(frozen=True, slots=True)
class Urls:
    """Where the page's forms and scripts send to."""

    submit: str
    skip: str
    draft: str
    heartbeat: str
    undo: str
    following: str


@dataclass(frozen=True, slots=True)
class RatingPage:
    """All of the page."""

    assignment: int
    study: int
    study_name: str
    number: int
    condition: str
    condition_word: str
    looking: str
    question: str
    phase: str
    state: str
    can_rate: bool
    lapsed: bool
    skip_reason: str
    query: str
    query_cut: int
    sides: tuple[SideView, ...]
    choices: tuple[Choice, ...]
    tags: tuple[TagBox, ...]
    notes: Typed
    reason: Typed
    blind: Stored | None
    current: Stored | None
    token: str
    seen_revision: int
    evidence: str
    seconds: float
    work: Work
    decisions: tuple[Decision, ...]
    guide: Guide | None
    agents: AgentPanes | None
    editor: Editor | None
    runs: tuple[RunLine, ...]
    urls: Urls
    keys: dict[str, KeyView]
    problem: str = ""
    pending: Choice | None = None
    clash: Clash | None = None
    skip_problem: str = ""
    choice_draft_at: str = ""

    @property
    def active(self) -> str:
        """The active seconds so far, as the page's script reads them."""
        return f"{self.seconds:.1f}"

    @property
    def help(self) -> tuple[tuple[str, str], ...]:
        """(key, what it does) of every key that works on this page."""
        boxes = any(side.box for side in self.sides)
        actions = [
            "note",
            *(["skip"] if self.state == State.RESERVED else []),
            "undo",
            "next",
            *(["call", "assert"] if boxes else []),
            *(["edit"] if self.editor else []),
            *(STEPPING if self.editor or self.agents else []),
            "guidelines",
            "decisions",
            "help",
        ]
        views = [
            *(KeyView(one.key.key, one.sign.word) for one in self.choices),
            *(self.keys[name] for name in actions),
            *(KeyView(tag.key.key, f"tag: {tag.word}") for tag in self.tags),
        ]
        return tuple((view.key, view.title) for view in views if view.key)

    @property
    def second(self) -> bool:
        """Whether this is the look after the blind label was locked."""
        return self.phase != Phase.BLIND

    @property
    def pairwise(self) -> bool:
        return len(self.sides) > 1


def rating_page(assignment: Assignment, sent: Sent | None = None, *, start: bool = False) -> RatingPage:
    """The page of an assignment that was read with `showing.RELATED`, with its rater.

    `start`: the editor begins with the agents' test, where the page shows one.
    """
    sent = sent or Sent()
    enrolment = assignment.enrolment
    study, condition = enrolment.study, assignment.condition
    keys = key_views(assignment.rater)
    phase = showing.phase_of(assignment)
    blind, last = standing(assignment, Phase.BLIND), rating.last_of(assignment, phase)
    current = last if last is not None and not last.withdrawn else None
    agents = agent_part(assignment)
    kept = drafts.by_field(assignment)
    chosen, tags = choice_and_tags(assignment, sent, kept, current or blind)
    choices = choices_of(assignment, keys, (current or blind) if phase != Phase.BLIND else current, chosen)
    query, cut = beginning(assignment.study_pair.pair.query.text, LONGEST_TEXT)
    urls = urls_of(assignment)
    may_run = not running.refuse(assignment)
    sides = showing.sides_of(assignment)
    return RatingPage(
        assignment=assignment.pk,
        study=study.pk,
        study_name=study.name,
        number=assignment.study_pair.number,
        condition=condition.kind,
        condition_word=condition.get_kind_display(),
        looking=looking_of(assignment),
        question=QUESTIONS[study.scale],
        phase=phase,
        state=assignment.state,
        can_rate=study.is_live and assignment.state != State.SKIPPED,
        lapsed=sent.lapsed or is_lapsed(assignment),
        skip_reason=assignment.skip_reason,
        query=query,
        query_cut=cut,
        sides=tuple(side_view(assignment, side, kept, keys, agents) for side in sides),
        choices=choices,
        tags=tag_boxes(assignment, keys, tags),
        notes=typed(sent.notes, kept, Field.NOTES, noted(current or blind)),
        reason=typed(sent.reason, kept, Field.REASON, current.reason if current else ""),
        blind=stored(assignment, blind) if blind and phase != Phase.BLIND else None,
        current=stored(assignment, current) if current else None,
        token=assignment.token,
        seen_revision=rating.revision_seen(last),
        evidence=showing.evidence_hash(assignment, agents.rests_on if agents else ()),
        seconds=longest(assignment),
        work=welcoming.work_of(enrolment),
        decisions=decisions_of(assignment),
        guide=guide_of(study, assignment),
        agents=agent_panes(assignment, agents, keys, may_run=may_run) if agents else None,
        editor=editor_of(assignment, sides, kept, keys, agents, start=start) if may_run else None,
        runs=run_lines(assignment),
        urls=urls,
        keys=keys,
        problem=sent.problem,
        pending=next((one for one in choices if one.pending), None)
        if sent.problem or sent.conflict
        else None,
        clash=clash_of(assignment, sent),
        skip_problem=sent.skip_problem,
        choice_draft_at=typed("", kept, Field.CHOICE, "").draft_at,
    )


def urls_of(assignment: Assignment) -> Urls:
    study, number = assignment.enrolment.study_id, assignment.study_pair.number
    pair = {"submit", "skip", "draft", "heartbeat"}
    return Urls(
        **{name: reverse(f"rate-{name}", args=[study, number]) for name in pair},
        undo=reverse("rate-undo", args=[study]),
        following=reverse("rate-next", args=[study]),
    )


def looking_of(assignment: Assignment) -> str:
    """What the condition lets the rater do, in one line."""
    kind = assignment.condition.kind
    if kind == Condition.Kind.REVEAL and showing.shows_everything(assignment):
        return "Your blind label is locked and everything the agents did is shown: confirm it, or revise it."
    if kind == Condition.Kind.SECOND_LOOK and showing.phase_of(assignment) != Phase.BLIND:
        return "Your label is locked. Look a second time, with nothing new: confirm it, or revise it."
    return KINDS[kind]


def is_lapsed(assignment: Assignment, now: datetime | None = None) -> bool:
    """Whether the reservation ran out, noted already or not."""
    late = assignment.reserved_until < (now or timezone.now())
    return assignment.state == State.LAPSED or (assignment.state == State.RESERVED and late)


def standing(assignment: Assignment, phase: str) -> Rating | None:
    """What the rater said in a phase, unless it was taken back."""
    last = rating.last_of(assignment, phase)
    return last if last is not None and not last.withdrawn else None


def longest(assignment: Assignment) -> float:
    """The active seconds of its last revision: where counting goes on."""
    return max((row.seconds for row in assignment.ratings.all()), default=0.0)


def typed(sent: str, kept: dict[str, RatingDraft], name: str, stands: str) -> Typed:
    """What was just sent, else the draft, else what is stored."""
    draft = kept.get(name)
    at = draft.updated_at.isoformat() if draft else ""
    return Typed(sent or (draft.text if draft else stands), at)


def noted(row: Rating | None) -> str:
    return row.notes if row else ""


def choice_and_tags(
    assignment: Assignment, sent: Sent, kept: dict[str, RatingDraft], stands: Rating | None
) -> tuple[str, frozenset[Tag]]:
    """The choice that waits to be sent, and the tags that are set: as sent, as kept, or as stored."""
    draft = kept[Field.CHOICE].text.split() if Field.CHOICE in kept else []
    words = words_of(assignment.enrolment.study)
    if sent.choice or sent.tags or sent.problem or sent.conflict:
        return sent.choice, frozenset(known(sent.tags))
    waiting = next((word for word in draft if word in words), "")
    return waiting, frozenset(known(draft or (stands.tags if stands else ())))


def choices_of(
    assignment: Assignment, keys: dict[str, KeyView], stands: Rating | None, pending: str
) -> tuple[Choice, ...]:
    """The buttons of the study's scale, in its order; in a forced choice nobody can be unsure."""
    study = assignment.enrolment.study
    now = rating.word_of(assignment, stands.value) if stands else ""
    words = [
        word
        for word in words_of(study)
        if not (word == "unsure" and study.scale == Study.Scale.PREFERENCE and not study.ties)
    ]
    return tuple(
        Choice(word, said_sign(study.scale, word), key_of(study, word, keys), word == now, word == pending)
        for word in words
    )


def key_of(study: Study, word: str, keys: dict[str, KeyView]) -> KeyView:
    """One's own keys for match, no match and unsure; elsewhere the digit on the button, while keys are on."""
    if word == "unsure":
        return keys["unsure"]
    if study.scale == Study.Scale.BINARY:
        return keys["match" if word == "1" else "no_match"]
    digit = {"left": "1", "right": "2", "tie": "0"}.get(word, word)
    on = any(view.key for view in keys.values())
    return KeyView(digit, said_sign(study.scale, word).word) if on else NO_KEY


def tag_boxes(assignment: Assignment, keys: dict[str, KeyView], on: frozenset[Tag]) -> tuple[TagBox, ...]:
    """The tags that make sense: those of a test where the agents' test is shown."""
    tests = showing.shows_test(assignment) or showing.shows_everything(assignment)
    return tuple(
        TagBox(tag.value, TAG_WORDS[tag], MEANINGS[tag], keys.get(f"tag_{tag}", NO_KEY), tag in on)
        for tag in Tag
        if tests or not tag.of_test
    )


def side_view(
    assignment: Assignment,
    side: Side,
    kept: dict[str, RatingDraft],
    keys: dict[str, KeyView],
    agents: AgentPart | None,
) -> SideView:
    """One snippet; where the agents' run is shown its lines carry what that reached."""
    box = call_box(assignment, side, kept, keys) if not running.refuse(assignment) else None
    return SideView(
        name=side.name,
        code=candidate_side(side, agents.report if agents else None),
        docstrings=side.docstrings,
        note="docstring hidden" if side.hidden else "",
        names=names_view(side.pair.snippet.text, prefix_of(side)),
        box=box,
    )


def stored(assignment: Assignment, row: Rating) -> Stored:
    scale = assignment.enrolment.study.scale
    sign = said_sign(scale, rating.word_of(assignment, row.value))
    tags = tuple(TAG_WORDS[tag] for tag in known(row.tags))
    return Stored(sign, row.notes, row.reason, tags, row.created_at)


def clash_of(assignment: Assignment, sent: Sent) -> Clash | None:
    if sent.conflict is None:
        return None
    theirs, scale = sent.conflict.stored, assignment.enrolment.study.scale
    return Clash(
        message=str(sent.conflict),
        stored=stored(assignment, theirs) if theirs and not theirs.withdrawn else None,
        sent=said_sign(scale, sent.choice or "unsure"),
        notes=sent.notes,
        reason=sent.reason,
    )


def decisions_of(assignment: Assignment) -> tuple[Decision, ...]:
    """The rater's last ten decisions in the study, the newest first."""
    study = assignment.enrolment.study
    return tuple(
        Decision(
            number=row.assignment.study_pair.number,
            url=reverse("rate-pair", args=[study.pk, row.assignment.study_pair.number]),
            query=row.assignment.study_pair.pair.query.head[:LONGEST_TITLE],
            sign=said_sign(study.scale, rating.word_of(row.assignment, row.value)),
            at=row.created_at,
            here=row.assignment_id == assignment.pk,
        )
        for row in rating.recent(assignment.enrolment, MOST_RECENT)
    )


def guide_of(study: Study, assignment: Assignment) -> Guide | None:
    found = guiding.current(study)
    return guide(found, not guiding.acknowledged(study, assignment.rater)) if found else None


def guide(found: Guideline, unread: bool) -> Guide:
    """A version of the guidelines with its worked cases."""
    cases = tuple(dict(case) for case in found.worked_cases if isinstance(case, dict))
    return Guide(found.pk, str(found), guiding.rendered(found.text), cases, found.note, unread)


def stored_message(user: User, made: Rating) -> str:
    """What is announced after a rating: what was stored, and how to take it back."""
    assignment = made.assignment
    if assignment.state == State.LOCKED:
        return "Your blind label is locked."
    word = said_sign(assignment.condition.study.scale, rating.word_of(assignment, made.value)).word
    key = keys_of(user).live(Action.UNDO)
    return f"Stored: {word}. {key} to undo." if key else f"Stored: {word}. Undo is beside the labels."
