"""What people had executed beside a case: its state, its report, and how it differs from the recorded one."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from django.contrib.auth.models import User
from django.utils import timezone

from annotation.models import Case, Draft, Execution, ExecutionRequest, TestProgram
from annotation.pages.code import Code
from annotation.pages.drafting import Typed, typed
from annotation.pages.evidence import ExecutionView, ProgramView, candidate_code, execution_view, program_view
from annotation.pages.review_keys import KeyView, key_views
from annotation.pages.words import OUTCOMES, Sign
from annotation.review import drafts
from annotation.review.own_tests import MOST_SHOWN, OPEN, beginning_of_a_test, requests_for
from sandbox.report import Outcome

MOST_DIFFERENCES = 60
MOST_COMPARED = 1_000
NOBODY_CAME = timedelta(seconds=15)
OWN_LINES = "r"
"""The anchors' prefix of a program that is not the case's own."""

STATES: Final[Mapping[str, Sign]] = MappingProxyType(
    {
        ExecutionRequest.State.WAITING: Sign("…", "waiting"),
        ExecutionRequest.State.RUNNING: Sign("▶", "running"),
        ExecutionRequest.State.DONE: Sign("✓", "done"),
        ExecutionRequest.State.FAILED: Sign("!", "failed", "warn"),
    }
)


@dataclass(frozen=True, slots=True)
class RunLine:
    """One request in the history of a pair."""

    pk: int
    who: str
    edited: bool
    sign: Sign
    at: datetime


@dataclass(frozen=True, slots=True)
class Difference:
    """One line of a comparison: `-` only in the recorded report, `+` only in the new one."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run of the recorded program against its recorded report, both as agents read them."""

    same: bool
    lines: tuple[Difference, ...]
    more: int


@dataclass(frozen=True, slots=True)
class RunPage:
    """One person's execution: waiting, running, done or failed; with the recorded execution to lay beside."""

    pk: int
    case: int
    query: str
    who: str
    edited: bool
    state: str
    sign: Sign
    open: bool
    ahead: int
    nobody_came: bool
    message: str
    program_pk: int
    program: ProgramView | None
    execution: ExecutionView | None
    recorded: ExecutionView | None
    recorded_program: ProgramView | None
    candidate: Code
    comparison: Comparison | None
    at: datetime


@dataclass(frozen=True, slots=True)
class OwnRun:
    """One run of the person's own tests, and what its program changed in the one that they ran before.

    The first is laid against the test that it is a copy of. `more`: lines of the difference not shown.
    """

    pk: int
    sign: Sign
    at: datetime
    changes: tuple[Difference, ...]
    more: int


@dataclass(frozen=True, slots=True)
class EditorPage:
    """A copy of a test program to be edited; `source` is the copy."""

    case: int
    pair: int
    query: str
    candidate: Code
    source: Typed
    original: str
    parent: int | None
    keys: dict[str, KeyView]
    runs: tuple[OwnRun, ...]
    problem: str = ""


def run_lines(case: Case) -> tuple[RunLine, ...]:
    """What people had executed on the case's pair. One query."""
    return tuple(
        RunLine(
            pk=request.pk,
            who=request.user.get_username(),
            edited=request.program.author_id is not None,
            sign=request_sign(request),
            at=request.created_at,
        )
        for request in requests_for(case.pair_id)
    )


def request_sign(request: ExecutionRequest) -> Sign:
    """The outcome once there is one, else how far the request is."""
    return OUTCOMES[Outcome(request.execution.outcome)] if request.execution else STATES[request.state]


def run_page(request: ExecutionRequest, case: Case, now: datetime | None = None) -> RunPage:
    """The page of one request (read with program, source, author, execution and report)."""
    program, execution = request.program, request.execution
    edited = program.pk != case.program_id
    report = execution.whole_report() if execution else None
    lines = OWN_LINES if edited else "t"
    is_open = request.state in OPEN
    waiting = request.state == ExecutionRequest.State.WAITING
    recorded = recorded_execution(case)
    return RunPage(
        pk=request.pk,
        case=case.pk,
        query=case.pair.query.head,
        who=request.user.get_username(),
        edited=edited,
        state=request.state,
        sign=request_sign(request),
        open=is_open,
        ahead=requests_ahead(request) if waiting else 0,
        nobody_came=waiting and (now or timezone.now()) - request.created_at > NOBODY_CAME,
        message=request.message,
        program_pk=program.pk,
        program=program_view(program, report, lines) if edited and not is_open else None,
        execution=execution_view(execution, report, program=lines) if execution else None,
        recorded=execution_view(recorded) if recorded and not is_open else None,
        recorded_program=recorded_program(case, recorded) if not is_open else None,
        candidate=candidate_code(case.pair.snippet.text, report),
        comparison=comparison(recorded, execution) if recorded and execution and not edited else None,
        at=request.created_at,
    )


def requests_ahead(request: ExecutionRequest) -> int:
    waiting = ExecutionRequest.objects.filter(state=ExecutionRequest.State.WAITING, pk__lt=request.pk)
    return waiting.count()


def recorded_execution(case: Case) -> Execution | None:
    """The execution that the agents' verdict rests on."""
    if case.execution_id is None:
        return None
    return Execution.objects.select_related("report").get(pk=case.execution_id)


def recorded_program(case: Case, recorded: Execution | None) -> ProgramView | None:
    """The test program of the agents, its lines marked by the recorded execution."""
    if case.program_id is None:
        return None
    row = TestProgram.objects.select_related("source", "author").get(pk=case.program_id)
    return program_view(row, recorded.whole_report() if recorded else None)


def comparison(recorded: Execution, new: Execution) -> Comparison:
    """The two reports without times, addresses and paths: what is left differs for a reason."""
    before = recorded.whole_report().canonical().splitlines()
    after = new.whole_report().canonical().splitlines()
    if before == after:
        return Comparison(same=True, lines=(), more=0)
    changed = list(differences(before, after))
    return Comparison(False, tuple(changed[:MOST_DIFFERENCES]), max(0, len(changed) - MOST_DIFFERENCES))


def differences(before: list[str], after: list[str]) -> Iterator[Difference]:
    """The lines that only one of the two has, in order."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for what, start, end, new_start, new_end in matcher.get_opcodes():
        if what != "equal":
            yield from (Difference("-", line) for line in before[start:end])
            yield from (Difference("+", line) for line in after[new_start:new_end])


def editor_page(
    user: User, case: Case, parent: TestProgram | None, source: str = "", problem: str = ""
) -> EditorPage:
    """The editor with what was just sent, else the draft, else a copy of `parent`, else a beginning."""
    draft = drafts.load(user, case.pair_id).get(Draft.Field.TEST)
    original = parent.source.text if parent else beginning_of_a_test(case.pair)
    return EditorPage(
        case=case.pk,
        pair=case.pair_id,
        query=case.pair.query.head,
        candidate=candidate_code(case.pair.snippet.text),
        source=typed(source, draft, original, again=bool(source)),
        original=original,
        parent=parent.pk if parent else None,
        keys=key_views(user),
        runs=own_runs(user, case),
        problem=problem,
    )


def own_runs(user: User, case: Case) -> tuple[OwnRun, ...]:
    """The person's latest runs of tests of their own on the case's pair, the newest first. One query."""
    related = "program__source", "program__parent__source", "execution"
    asked = ExecutionRequest.objects.filter(user=user, program__pair=case.pair_id, assignment=None)
    mine = asked.filter(program__author=user)
    rows = list(mine.select_related(*related).order_by("-id")[: MOST_SHOWN + 1])
    return tuple(own_run(row, rows[at + 1 : at + 2]) for at, row in enumerate(rows[:MOST_SHOWN]))


def own_run(row: ExecutionRequest, before: Sequence[ExecutionRequest]) -> OwnRun:
    """One run; `before` is the one before it, if any."""
    parent = row.program.parent
    earlier = before[0].program.source.text if before else parent.source.text if parent else ""
    after = row.program.source.text.splitlines()[:MOST_COMPARED]
    changed = list(differences(earlier.splitlines()[:MOST_COMPARED], after))
    return OwnRun(
        pk=row.pk,
        sign=request_sign(row),
        at=row.created_at,
        changes=tuple(changed[:MOST_DIFFERENCES]),
        more=max(0, len(changed) - MOST_DIFFERENCES),
    )
