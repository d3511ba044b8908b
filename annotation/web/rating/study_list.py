"""A rater's studies, and the page that welcomes them to one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from django.contrib.auth.models import User
from django.utils.safestring import SafeString

from annotation.models import Assignment, Enrolment, Guideline, Study, StudyPair
from annotation.review.shortcuts import Action
from annotation.studies.enrolment import queue, rater_studies
from annotation.studies.enrolment.queue import LEFT, QueueClosed
from annotation.studies.enrolment.rater_studies import Profile, Wanted, Work
from annotation.studies.plan import guidelines
from annotation.studies.rating.undo import last_decision
from annotation.studies.report.figures import open_to
from annotation.studies.report.own_part import DecidedPair, OwnPart, summarize_own_part
from annotation.web.rating.words import KINDS, QUESTIONS, UNDECIDED, value_sign
from annotation.web.review.keys import KeyView, key_views
from annotation.web.shared.words import Sign

CLOSED: Final = Sign("■", "closed", "quiet")
PAUSED: Final = Sign("‖", "paused", "warn")
WAITS: Final = Sign("!", "needs you", "warn")
FINISHED: Final = Sign("✓", "finished", "good")
RUNNING: Final = Sign("▶", "running", "info")


@dataclass(frozen=True, slots=True)
class StudyLine:
    """One study in the rater's list; `figures`: they are open to the rater.

    `over`: it is closed, or an admin has ended the rater's part, so that nothing is wanted.
    """

    pk: int
    name: str
    question: str
    condition: str
    sign: Sign
    work: Work
    wanted: tuple[Wanted, ...]
    can_go_on: bool
    figures: bool
    over: bool
    seconds_left: float

    @property
    def seconds_a_pair(self) -> float | None:
        return self.work.seconds / self.work.done if self.work.done and self.work.seconds else None


@dataclass(frozen=True, slots=True)
class StudyPage:
    """What a rater reads before the first pair, and where they stand.

    `languages`: the programming languages to choose from, and whether each is chosen; none where there is
    nothing to choose.
    """

    line: StudyLine
    kind: str
    question: str
    information: SafeString
    accepted_at: datetime | None
    profile: Profile
    problems: dict[str, str]
    guide: Guide | None
    closed: str = ""
    may_leave: bool = False
    asks_profile: bool = False
    languages: tuple[tuple[str, bool], ...] = ()
    practice: bool = False
    undo: FinishedUndo | None = None
    own: OwnPartView | None = None


@dataclass(frozen=True, slots=True)
class OwnPartView:
    """The rater's own part of a closed study: each decided pair with what they said and what was decided."""

    part: OwnPart
    decided: tuple[tuple[DecidedPair, Sign, Sign], ...]


@dataclass(frozen=True, slots=True)
class FinishedUndo:
    """The last decision of a rater who has nothing left: what the form names, and the key that sends it."""

    name: str
    key: KeyView


@dataclass(frozen=True, slots=True)
class LeavePage:
    """What becomes of a rater's pairs and labels if they leave: pairs held, pairs with a locked label."""

    line: StudyLine
    reserved: int
    locked: int


def study_line(enrolment: Enrolment) -> StudyLine:
    study, work = enrolment.study, rater_studies.work_of(enrolment)
    over = enrolment.removed or not study.is_live
    wanted = () if over else rater_studies.find_pending_requirements(enrolment)
    work = replace(work, left=0) if over else work
    return StudyLine(
        pk=study.pk,
        name=study.name,
        question=QUESTIONS[study.scale],
        condition=enrolment.condition.get_kind_display(),
        sign=sign_of(enrolment, work, wanted),
        work=work,
        wanted=wanted,
        can_go_on=study.state == Study.State.RUNNING and not (over or wanted) and work.left > 0,
        figures=open_to(enrolment.user, study),
        over=over,
        seconds_left=rater_studies.estimate_seconds_left(enrolment, work),
    )


def sign_of(enrolment: Enrolment, work: Work, wanted: tuple[Wanted, ...]) -> Sign:
    """How the study stands for this rater; of who took part, guidelines to be read alone wait for nobody."""
    if not enrolment.study.is_live:
        return CLOSED
    if enrolment.finished_at is not None or not (work.left or Wanted.ACCEPT in wanted):
        return FINISHED
    if enrolment.study.state == Study.State.PAUSED:
        return PAUSED
    return WAITS if wanted else RUNNING


def study_page(
    enrolment: Enrolment, profile: Profile | None = None, problems: dict[str, str] | None = None
) -> StudyPage:
    """The welcome; `profile` is what was just sent and could not be stored."""
    study, line = enrolment.study, study_line(enrolment)
    return StudyPage(
        line=line,
        kind=KINDS[enrolment.condition.kind],
        question=study.question,
        information=guidelines.render_guideline_markdown(study.information),
        accepted_at=enrolment.accepted_at,
        profile=profile or rater_studies.profile_of(enrolment),
        problems=problems or {},
        guide=guide_of(study, enrolment.user),
        closed=explain_closed_study(enrolment),
        may_leave=rater_studies.may_leave(enrolment),
        asks_profile=study.asks_profile,
        languages=language_choices(enrolment, profile),
        practice=study.practice and study.pairs.filter(planted=StudyPair.Planted.ONBOARDING).exists(),
        undo=finished_undo(enrolment, line),
        own=own_part_view(enrolment) if line.over and line.work.done else None,
    )


def language_choices(enrolment: Enrolment, sent: Profile | None) -> tuple[tuple[str, bool], ...]:
    """The programming languages to choose from, and which are ticked: as sent, as stored, or all."""
    offered = rater_studies.list_code_languages(enrolment.study)
    stored = enrolment.code_languages or offered
    chosen = stored if sent is None or sent.code_languages is None else sent.code_languages
    return tuple((name, name in chosen) for name in offered)


def own_part_view(enrolment: Enrolment) -> OwnPartView | None:
    part, scale = summarize_own_part(enrolment), enrolment.study.scale
    if part is None:
        return None
    rows = (
        (pair, value_sign(scale, pair.said), value_sign(scale, pair.decided, UNDECIDED))
        for pair in part.decided
    )
    return OwnPartView(part, tuple(rows))


def finished_undo(enrolment: Enrolment, line: StudyLine) -> FinishedUndo | None:
    """While pairs are left, the page of the next one has it."""
    if line.over or line.work.left or not line.work.done:
        return None
    last = last_decision(enrolment)
    return FinishedUndo(last.name, key_views(enrolment.user)[Action.UNDO]) if last else None


def leave_page(enrolment: Enrolment) -> LeavePage:
    """The question before it is done."""
    states = list(enrolment.assignments.filter(state__in=queue.OPEN).values_list("state", flat=True))
    locked = states.count(Assignment.State.LOCKED)
    return LeavePage(study_line(enrolment), len(states) - locked, locked)


def explain_closed_study(enrolment: Enrolment) -> str:
    """Why nothing is handed out, whatever the rater does; empty where it is."""
    try:
        queue.refuse_over(enrolment)
    except QueueClosed as why:
        return str(why)
    if enrolment.left_at is not None:
        return LEFT
    paused = enrolment.study.state == Study.State.PAUSED
    return "The study is paused: no new pairs until it continues." if paused else ""


@dataclass(frozen=True, slots=True)
class Guide:
    """The guidelines that hold, to be opened with one key; `unread`: they have changed since."""

    pk: int
    name: str
    html: str
    cases: tuple[dict[str, object], ...]
    note: str
    unread: bool


def guide_of(study: Study, user: User) -> Guide | None:
    """Those of the study, and whether the person has read this version."""
    found = study.guideline
    return build_rater_guide(found, not guidelines.has_acknowledged_guideline(study, user)) if found else None


def build_rater_guide(found: Guideline, unread: bool) -> Guide:
    """A version of the guidelines with its worked cases."""
    cases = tuple(dict(case) for case in found.worked_cases if isinstance(case, dict))
    return Guide(
        found.pk, str(found), guidelines.render_guideline_markdown(found.text), cases, found.note, unread
    )
