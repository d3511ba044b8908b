"""The page of one pair of a study, as its rater sees it in their condition.

Everything on a blind page comes from the texts of the pair and the study's tables. What the agents did is in
`agents` and nowhere else; it is None unless `shown_pair.case_shown` finds that the condition shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from django.contrib.auth.models import User
from django.urls import reverse

from annotation.models import Assignment, Rating, Study
from annotation.review.layout import Layout, LayoutPage, layout_in
from annotation.review.shortcuts import Action, keys_in, keys_of, label_action, load_preference, tag_action
from annotation.review.tags import Tag
from annotation.studies.enrolment import rater_studies
from annotation.studies.enrolment.queue import OPEN
from annotation.studies.enrolment.rater_studies import Work
from annotation.studies.plan.form_checks import word_of
from annotation.studies.rating import ratings, shown_pair
from annotation.studies.rating.runs import describe_run_refusal
from annotation.studies.rating.shown_pair import SnippetSide
from annotation.studies.rating.undo import last_decision
from annotation.web.cases.names import names_of_snippet
from annotation.web.cases.panes import CodePane, QueryPane, query_pane
from annotation.web.rating.agents import (
    AgentPanes,
    AgentPart,
    agent_panes,
    agent_part,
    candidate_side,
    prefix_of,
)
from annotation.web.rating.form import (
    Earlier,
    LabelForm,
    Phase,
    RatingState,
    Sent,
    State,
    Stored,
    build_stored_rating,
    earlier_of,
    label_form,
    standing_of,
)
from annotation.web.rating.place import Skip, Where, skip_of, where_of
from annotation.web.rating.practice import PracticeResult, build_practice_result
from annotation.web.rating.runs import Editor, RunLine, call_box, editor_of, pair_url, run_lines
from annotation.web.rating.study_list import Guide, guide_of
from annotation.web.rating.words import said_sign
from annotation.web.review.keys import HelpGroup, KeyView, help_groups, views_of
from annotation.web.shared.words import Sign

MOST_RECENT: Final = 10
LONGEST_TITLE: Final = 80
STEPPING: Final = ("strength", "step_next", "step_previous", "step_failing", "step_follow")


@dataclass(frozen=True, slots=True)
class RecentRating:
    """One line of the list of the last decisions."""

    number: int
    url: str
    query: str
    sign: Sign
    at: datetime
    here: bool


@dataclass(frozen=True, slots=True)
class Urls:
    """Where the page's forms and scripts send to."""

    here: str
    submit: str
    skip: str
    draft: str
    heartbeat: str
    undo: str
    following: str


@dataclass(frozen=True, slots=True)
class Undo:
    """What the undo button names and says: the decision that it takes back; empty for none."""

    name: str
    what: str


@dataclass(frozen=True, slots=True)
class RatingPage:
    """All of the page. `place` is what it is called among the pages that a person arranges."""

    where: Where
    skip: Skip
    query: QueryPane
    sides: tuple[CodePane, ...]
    form: LabelForm
    blind: Stored | None
    earlier: tuple[Earlier, ...]
    seconds: float
    work: Work
    decisions: tuple[RecentRating, ...]
    guide: Guide | None
    agents: AgentPanes | None
    editor: Editor | None
    runs: tuple[RunLine, ...]
    urls: Urls
    undo: Undo
    practice: PracticeResult | None
    keys: dict[str, KeyView]
    place: LayoutPage
    layout: Layout

    @property
    def active(self) -> str:
        """The active seconds so far, as the page's script reads them."""
        return f"{self.seconds:.1f}"

    @property
    def draft_key(self) -> str:
        """Under what the browser keeps drafts of this assignment."""
        return f"rating-{self.where.assignment}"

    @property
    def holds(self) -> bool:
        """Whether there is a reservation that the page holds on to."""
        return self.may_take_back and self.where.state in OPEN and not self.where.lapsed

    @property
    def may_take_back(self) -> bool:
        """Whether the rater may still take back: not after the end of the study or of their part."""
        return not self.where.over

    @property
    def may_skip(self) -> bool:
        return self.may_take_back and self.where.state in {State.RESERVED, State.LAPSED}

    @property
    def pairwise(self) -> bool:
        return len(self.sides) > 1

    @property
    def tests(self) -> bool:
        """Whether the rater's own test and its runs have a tab."""
        return self.editor is not None or bool(self.runs)

    @property
    def rests_on(self) -> str:
        """What the label rests on, which says how wide the two columns are."""
        if self.pairwise:
            return "two"
        return "agents" if self.agents else "own" if self.tests else "reading"

    @property
    def leads_on(self) -> bool:
        """Whether the pair that is open is another one than this."""
        return self.may_take_back and (self.where.state not in OPEN or self.where.lapsed)

    @property
    def help(self) -> tuple[HelpGroup, ...]:
        """Every key that works on this page, in words."""
        scale = self.form.scale
        shown = {name: self.keys[name] for name in self.actions}
        for choice in self.form.choices:
            shown[label_action(scale, choice.word)] = replace(choice.key, title=choice.sign.word)
        for tag in self.form.tags:
            shown[tag_action(Tag(tag.value))] = tag.key
        return help_groups(shown)

    @property
    def actions(self) -> list[str]:
        """What can be done here, beside labels and tags."""
        return [
            "note",
            *(["skip"] if self.may_take_back and self.where.state == State.RESERVED else []),
            *(["undo"] if self.may_take_back else []),
            *(["next"] if self.leads_on else []),
            *(["call", "assert"] if any(side.box for side in self.sides) else []),
            *(["edit"] if self.editor else []),
            *(STEPPING if self.editor or self.agents else []),
            *(["tab_test", "tab_trace"] if self.agents else []),
            *(["mark_lines"] if self.form.lines else []),
            *(["guidelines"] if self.guide else []),
            *(["decisions"] if self.decisions else []),
            "help",
        ]


def rating_page(assignment: Assignment, sent: Sent | None = None, *, start: str = "") -> RatingPage:
    """The page of an assignment that was read with `shown_pair.RELATED`, with its rater.

    `start`: what the editor begins with: `agents` (their test, where the page shows one), or the id of an
    own test of the pair.
    """
    sent, study = sent or Sent(), assignment.enrolment.study
    liked = load_preference(assignment.rater)
    place = LayoutPage.PAIRWISE if study.kind == Study.Kind.PAIRWISE else LayoutPage.RATING
    keys, layout, standing = views_of(keys_in(liked)), layout_in(liked, place), standing_of(assignment)
    agents, may_run = agent_part(assignment), not describe_run_refusal(assignment)
    last = last_decision(assignment.enrolment)
    locked = None if standing.phase == Phase.BLIND else standing.blind  # it can't be changed any more
    evidence = shown_pair.evidence_hash(assignment, agents.rests_on if agents else ())
    return RatingPage(
        where=where_of(assignment, standing, sent, agents),
        skip=skip_of(assignment, standing, sent),
        query=query_pane(assignment.study_pair.pair.query.text),
        sides=code_panes(assignment, standing, keys, agents, may_run=may_run),
        form=label_form(assignment, standing, sent, keys, evidence),
        blind=build_stored_rating(assignment, locked) if locked else None,
        earlier=earlier_of(assignment, standing),
        seconds=standing.seconds,
        work=rater_studies.work_of(assignment.enrolment),
        decisions=decisions_of(assignment),
        guide=guide_of(study, assignment.rater),
        agents=agent_panes(assignment, agents, keys, may_run=may_run) if agents else None,
        editor=editor_of(assignment, standing.drafts, keys, agents, start=start) if may_run else None,
        runs=run_lines(assignment),
        urls=urls_of(assignment),
        undo=Undo(last.name, f": pair {last.of.study_pair.number:,}") if last else Undo("", ""),
        practice=build_practice_result(study, last),
        keys=keys,
        place=place,
        layout=layout,
    )


def urls_of(assignment: Assignment) -> Urls:
    study, number = assignment.enrolment.study_id, assignment.study_pair.number
    pair = {"submit", "skip", "draft", "heartbeat"}
    return Urls(
        **{name: reverse(f"rate-{name}", args=[study, number]) for name in pair},
        here=reverse("rate-pair", args=[study, number]),
        undo=reverse("rate-undo", args=[study]),
        following=reverse("rate-next", args=[study]),
    )


def whole_url(assignment: Assignment, side: SnippetSide) -> str:
    """Where all of a snippet can be read."""
    named = f"?side={side.name}" if side.name else ""
    return f"{pair_url('rate-snippet', assignment)}{named}"


def code_panes(
    assignment: Assignment,
    standing: RatingState,
    keys: Mapping[str, KeyView],
    agents: AgentPart | None,
    *,
    may_run: bool,
) -> tuple[CodePane, ...]:
    """The snippet, or both; where the agents' run is shown its lines carry what that reached."""
    report = agents.report if agents else None

    def pane(side: SnippetSide) -> CodePane:
        return CodePane(
            code=replace(candidate_side(side, report), whole=whole_url(assignment, side)),
            box=call_box(assignment, side, standing.drafts, keys) if may_run else None,
            names=names_of_snippet(side.pair.snippet, prefix_of(side)),
            note="docstring hidden" if side.hidden else "",
            docstrings=side.docstrings,
            origin=side.origin,
            suffix="-right" if side.name == "right" else "",
            name="other" if side.name == "right" else "code",
        )

    return tuple(pane(side) for side in shown_pair.sides_of(assignment))


def decisions_of(assignment: Assignment) -> tuple[RecentRating, ...]:
    """The rater's last ten decisions in the study, the newest first."""
    study = assignment.enrolment.study
    return tuple(
        RecentRating(
            number=row.assignment.study_pair.number,
            url=reverse("rate-pair", args=[study.pk, row.assignment.study_pair.number]),
            query=row.assignment.study_pair.pair.query.head[:LONGEST_TITLE],
            sign=said_sign(study.scale, word_of(row.assignment, row.value)),
            at=row.created_at,
            here=row.assignment_id == assignment.pk,
        )
        for row in ratings.find_recent_ratings(assignment.enrolment, MOST_RECENT)
    )


def stored_message(user: User, made: Rating) -> str:
    """What is announced after a rating: what was stored, and how to take it back."""
    assignment = made.assignment
    if assignment.state == State.LOCKED:
        return "Your blind label is locked."
    word = said_sign(assignment.enrolment.study.scale, word_of(assignment, made.value)).word
    key = keys_of(user).live(Action.UNDO)
    return f"Saved: {word}. Press {key} to undo." if key else f"Saved: {word}. Undo is next to the labels."


def restored_message(earlier: Rating, made: Rating) -> str:
    """What is announced after an earlier revision was restored."""
    assignment = made.assignment
    word = said_sign(assignment.enrolment.study.scale, word_of(assignment, made.value)).word
    return f"Restored: {word}, as in your revision {earlier.revision}. It is revision {made.revision} now."
