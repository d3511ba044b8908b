"""A rater's own tests and calls: the editor, the box under the code, and the page of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, ExecutionRequest, RatingDraft
from annotation.studies.rating import drafts, runs, shown_pair
from annotation.studies.rating.shown_pair import SnippetSide
from annotation.web.cases.code import Code
from annotation.web.cases.evidence import ProgramView, execution_view, program_view
from annotation.web.cases.panes import ExecutionPane, execution_pane
from annotation.web.rating.agents import AgentPart, candidate_side, prefix_of
from annotation.web.review.calls import CallBox, CallPage, CallPlaces, box_of
from annotation.web.review.keys import NO_KEY, KeyView, key_views
from annotation.web.review.runs import (
    NOBODY_CAME,
    OWN_LINES,
    ReportDifference,
    compare_programs,
    request_sign,
    requests_ahead,
)
from annotation.web.shared.pagination import whole_number
from annotation.web.shared.words import Sign
from sandbox.reports.report import Report


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run in the rater's history of this pair."""

    number: int
    url: str
    sign: Sign
    side: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Editor:
    """The rater's own test. `sides`: the names of the snippets that it can run on, empty for the only one."""

    url: str
    source: str
    draft_url: str
    draft_key: str
    draft_at: str
    draft_revision: str
    sides: tuple[str, ...]
    key: KeyView


@dataclass(frozen=True, slots=True)
class RunPage:
    """One run of a rater's test; `differences` are to the program that ran before.

    `pane` has the execution, once there is one; at `strength_url` its test's strength is found out.
    `edit_url` puts the test back into the editor. `lines`: all runs of the pair, once this one has ended.
    """

    number: int
    url: str
    pair_url: str
    edit_url: str
    query: str
    side: str
    state: str
    sign: Sign
    open: bool
    ahead: int
    nobody_came: bool
    message: str
    program: ProgramView | None
    pane: ExecutionPane | None
    strength_url: str
    strength_key: KeyView
    differences: Sequence[ReportDifference]
    more: int
    candidate: Code
    at: datetime
    lines: tuple[RunLine, ...]


def places_of(assignment: Assignment, side: SnippetSide) -> CallPlaces:
    """Where the box of one side sends to. Of one field there are no two drafts: the first side has it."""
    return CallPlaces(
        ask=pair_url("rate-call", assignment),
        draft="" if side.name == "right" else pair_url("rate-draft", assignment),
        answer=lambda pk: pair_url("rate-answer", assignment, pk),
        assertion=lambda pk: pair_url("rate-assertion", assignment, pk),
        draft_key=draft_key(assignment, "call"),
        side=side.name,
        lines=prefix_of(side),
    )


def call_box(
    assignment: Assignment,
    side: SnippetSide,
    kept: Mapping[str, RatingDraft],
    keys: Mapping[str, KeyView],
    text: str = "",
    problem: str = "",
) -> CallBox:
    """The box of one side, with the rater's calls of it."""
    asked = runs.rater_calls_of_assignment(assignment).filter(pair=side.pair)[: runs.MOST_SHOWN]
    places = places_of(assignment, side)
    return box_of(assignment.rater, side.pair, places, asked, text, problem, keys, kept)


def call_page(
    assignment: Assignment, side: SnippetSide, keys: Mapping[str, KeyView], text: str, problem: str
) -> CallPage:
    """The box on a page of its own."""
    return CallPage(
        box=call_box(assignment, side, drafts.by_field(assignment), keys, text, problem),
        candidate=candidate_side(side),
        place="Rate",
        back_url=pair_url("rate-pair", assignment),
        back_word="Back to the pair",
    )


def pair_url(name: str, assignment: Assignment, *more: int) -> str:
    return reverse(name, args=[assignment.enrolment.study_id, assignment.study_pair.number, *more])


def draft_key(assignment: Assignment, name: str) -> str:
    """What names a draft in the rater's browser."""
    return f"{assignment.rater_id}:rating-{assignment.pk}:{name}"


def run_lines(assignment: Assignment) -> tuple[RunLine, ...]:
    """The runs of the rater's tests, the newest first."""
    rows = list(runs.rater_runs_of_assignment(assignment))
    sides = {side.pair.pk: side.name for side in shown_pair.sides_of(assignment)}
    return tuple(
        RunLine(
            number=len(rows) - at,
            url=pair_url("rate-ran", assignment, row.pk),
            sign=request_sign(row),
            side=sides.get(row.program.pair_id, ""),
            at=row.created_at,
        )
        for at, row in enumerate(rows[: runs.MOST_SHOWN])
    )


def editor_of(
    assignment: Assignment,
    kept: Mapping[str, RatingDraft],
    keys: Mapping[str, KeyView],
    agents: AgentPart | None,
    *,
    start: str = "",
) -> Editor:
    """The editor with what was chosen as a start, else the draft, else the last program, else a beginning.

    The agents' test is a start only where the page shows it, and as the page shows it.
    """
    theirs, sides = agents.source if agents else "", shown_pair.sides_of(assignment)
    named = assignment.programs.filter(pk=whole_number(start)).select_related("source")
    wanted = named.first() if start else None
    chosen = theirs if start == "agents" else wanted.source.text if wanted else ""
    stands = kept.get(RatingDraft.Field.TEST)
    draft = None if chosen else stands
    own = "" if draft else runs.beginning_of(assignment, sides[0].pair)
    return Editor(
        url=pair_url("rate-run", assignment),
        source=chosen or (draft.text if draft else own),
        draft_url=pair_url("rate-draft", assignment),
        draft_key=draft_key(assignment, "test"),
        draft_at=draft.revision if draft else "",
        draft_revision=stands.revision if stands else "",
        sides=tuple(side.name for side in sides if side.name),
        key=keys["edit"],
    )


def run_page(assignment: Assignment, asked: ExecutionRequest, now: datetime | None = None) -> RunPage:
    """The page of one run, of `runs.own_runs`."""
    side = next(one for one in shown_pair.sides_of(assignment) if one.pair.pk == asked.program.pair_id)
    report = asked.execution.whole_report() if asked.execution else None
    before = runs.programs_of(assignment).filter(edits=asked.program).first()
    own = asked.program.source.text
    changes, more = compare_programs(before.source.text if before else own, own)
    waiting = asked.state == ExecutionRequest.State.WAITING
    program = None if asked.is_open else program_view(asked.program, report, OWN_LINES)
    keys = {} if asked.is_open else key_views(assignment.rater)
    return RunPage(
        number=runs.rater_runs_of_assignment(assignment).filter(pk__lte=asked.pk).count(),
        url=pair_url("rate-ran", assignment, asked.pk),
        pair_url=pair_url("rate-pair", assignment),
        edit_url=f"{pair_url('rate-pair', assignment)}?start={asked.program_id}",
        query=assignment.study_pair.pair.query.head,
        side=side.name,
        state=asked.state,
        sign=request_sign(asked),
        open=asked.is_open,
        ahead=requests_ahead(asked) if waiting else 0,
        nobody_came=waiting and (now or timezone.now()) - asked.created_at > NOBODY_CAME,
        message=asked.message,
        program=program,
        pane=run_pane(asked, report, program, prefix_of(side), keys),
        strength_url=pair_url("rate-strength", assignment, asked.program_id),
        strength_key=keys.get("strength", NO_KEY),
        differences=changes,
        more=more,
        candidate=candidate_side(side, report),
        at=asked.created_at,
        lines=() if asked.is_open else run_lines(assignment),
    )


def run_pane(
    asked: ExecutionRequest,
    report: Report | None,
    program: ProgramView | None,
    lines: str,
    keys: Mapping[str, KeyView],
) -> ExecutionPane | None:
    """Time and number are those of the rater's own run: another one may have been there before."""
    if asked.execution is None or asked.is_open:
        return None
    made = execution_view(asked.execution, report, OWN_LINES, lines)
    return execution_pane(replace(made, repeat=1, at=asked.created_at), program, keys)
