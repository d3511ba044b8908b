"""Where a rater is in a study: which pair, in which phase, and what became of its place."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils import timezone

from annotation.models import Assignment, Condition
from annotation.studies.enrolment import queue
from annotation.studies.rating import earlier_revisions, shown_pair
from annotation.web.rating.agents import AgentPart
from annotation.web.rating.form import Field, Phase, RatingState, Sent, State
from annotation.web.rating.words import KINDS
from annotation.web.review.drafts import Typed, choose_field_text

CLOSED: Final = "The study is closed: your answers can't be changed any more."


@dataclass(frozen=True, slots=True)
class Where:
    """The pair and how it stands. `lost` says what became of its place, where that is more than a lapse.

    `over` says that the study is closed, or that an admin has ended the rater's part; empty where neither is.
    """

    assignment: int
    study: int
    study_name: str
    number: int
    looking: str
    phase: str
    state: str
    lapsed: bool
    lost: str
    over: str


@dataclass(frozen=True, slots=True)
class Skip:
    """Why the pair was skipped, why it just could not be, and what the form starts with."""

    reason: str
    problem: str
    typed: Typed


def where_of(assignment: Assignment, standing: RatingState, sent: Sent, agents: AgentPart | None) -> Where:
    study, over = assignment.enrolment.study, over_of(assignment)
    gone = not over and (standing.asked_again or is_lapsed(assignment))
    return Where(
        assignment=assignment.pk,
        study=study.pk,
        study_name=study.name,
        number=assignment.study_pair.number,
        looking=looking_of(assignment, agents),
        phase=standing.phase,
        state=assignment.state,
        lapsed=sent.lapsed or gone,
        lost=lost_of(assignment, standing, sent),
        over=over,
    )


def over_of(assignment: Assignment) -> str:
    if not assignment.enrolment.study.is_live:
        return CLOSED
    return queue.REMOVED if assignment.enrolment.removed else ""


def skip_of(assignment: Assignment, standing: RatingState, sent: Sent) -> Skip:
    """The form starts with what was just sent in vain, else with what was kept."""
    again = bool(sent.skip_problem or sent.skipping)
    kept = choose_field_text(sent.skipping, standing.drafts.get(Field.SKIP), "", again=again)
    return Skip(assignment.skip_reason, sent.skip_problem, kept)


def looking_of(assignment: Assignment, agents: AgentPart | None) -> str:
    """What the condition lets the rater do, in one line. Of a planted pair there is nothing to reveal."""
    kind = assignment.condition.kind
    if kind == Condition.Kind.REVEAL and shown_pair.shows_everything(assignment):
        if agents is None:
            return "No agents judged this pair. Keep your label or change it."
        return "Here is what the agents found. Keep your label or change it."
    if kind == Condition.Kind.SECOND_LOOK and shown_pair.phase_of(assignment) != Phase.BLIND:
        return "Look a second time, with nothing new. Keep your label or change it."
    return KINDS[kind]


def is_lapsed(assignment: Assignment, now: datetime | None = None) -> bool:
    """Whether the reservation ran out, noted already or not."""
    late = assignment.reserved_until < (now or timezone.now())
    return assignment.state == State.LAPSED or (assignment.state == State.RESERVED and late)


def lost_of(assignment: Assignment, standing: RatingState, sent: Sent) -> str:
    """What became of the place: as a form was just refused, else that the pair is asked again."""
    if sent.lost or sent.lapsed:
        return sent.lost or sent.problem
    if not standing.asked_again or over_of(assignment):
        return ""
    return earlier_revisions.ASKED_AGAIN if standing.current else queue.ASKED_AGAIN
