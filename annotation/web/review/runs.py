"""What people had executed beside a case: its state, its report, and how it differs from the recorded one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from django.contrib.auth.models import User
from django.utils import timezone

from annotation.models import Case, Draft, Execution, ExecutionRequest, TestProgram
from annotation.review import drafts
from annotation.review.own_runs.own_tests import MOST_SHOWN, OPEN, beginning_of_a_test, requests_for
from annotation.web.cases.evidence import ProgramView, candidate_code, execution_view, program_view
from annotation.web.review.drafts import choose_field_text
from annotation.web.shared.words import OUTCOMES, Sign
from sandbox.reports.canonical import canonical_text
from sandbox.reports.report import Outcome

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
class ReportDifference:
    """One line of a comparison: `-` only in the recorded report, `+` only in the new one."""

    mark: str
    text: str


def run_lines(case: Case) -> list[dict[str, Any]]:
    """What people had executed on the case's pair. One query."""
    return [
        {
            "pk": request.pk,
            "who": request.user.get_username(),
            "edited": request.program.author_id is not None,
            "sign": request_sign(request),
            "at": request.created_at,
        }
        for request in requests_for(case.pair_id)
    ]


def request_sign(request: ExecutionRequest) -> Sign:
    """The outcome once there is one, else how far the request is."""
    return OUTCOMES[Outcome(request.execution.outcome)] if request.execution else STATES[request.state]


def run_page(request: ExecutionRequest, case: Case, now: datetime | None = None) -> dict[str, Any]:
    """The page of one request (read with program, source, author, execution and report): waiting, running,
    done or failed; with the recorded execution to lay beside.
    """
    program, execution = request.program, request.execution
    edited = program.pk != case.program_id
    report = execution.whole_report() if execution else None
    lines = OWN_LINES if edited else "t"
    is_open = request.state in OPEN
    waiting = request.state == ExecutionRequest.State.WAITING
    # What the agents' verdict rests on.
    recorded = Execution.objects.select_related("report").filter(pk=case.execution_id or 0).first()
    return describe_request_state(request) | {
        "case": case.pk,
        "query": case.pair.query.head,
        "edited": edited,
        "nobody_came": waiting and (now or timezone.now()) - request.created_at > NOBODY_CAME,
        "program_pk": program.pk,
        "program": program_view(program, report, lines) if edited and not is_open else None,
        "execution": execution_view(execution, report, program=lines) if execution else None,
        "recorded": execution_view(recorded) if recorded and not is_open else None,
        "recorded_program": recorded_program(case, recorded) if not is_open else None,
        "candidate": candidate_code(case.pair.snippet.text, report, program=program),
        "comparison": compare_reports(recorded, execution) if recorded and execution and not edited else None,
    }


def requests_ahead(request: ExecutionRequest) -> int:
    waiting = ExecutionRequest.objects.filter(state=ExecutionRequest.State.WAITING, pk__lt=request.pk)
    return waiting.count()


def describe_request_state(request: ExecutionRequest) -> dict[str, Any]:
    """Who asked for an execution and when, how far it is, and how many go before it while it waits."""
    return {
        "pk": request.pk,
        "who": request.user.get_username(),
        "at": request.created_at,
        "state": request.state,
        "sign": request_sign(request),
        "open": request.is_open,
        "message": request.message,
        "ahead": requests_ahead(request) if request.state == ExecutionRequest.State.WAITING else 0,
    }


def recorded_program(case: Case, recorded: Execution | None) -> ProgramView | None:
    """The test program of the agents, its lines marked by the recorded execution."""
    if case.program_id is None:
        return None
    row = TestProgram.objects.select_related("source", "author").get(pk=case.program_id)
    return program_view(row, recorded.whole_report() if recorded else None)


def compare_reports(recorded: Execution, new: Execution) -> dict[str, Any]:
    """The two reports without times, addresses and paths: what is left differs for a reason."""
    before = canonical_text(recorded.whole_report()).splitlines()
    after = canonical_text(new.whole_report()).splitlines()
    lines, more = cut_differences(list_report_differences(before, after))
    return {"same": before == after, "lines": lines, "more": more}


def cut_differences(found: Iterable[ReportDifference]) -> tuple[list[ReportDifference], int]:
    """The first of them, and how many there are more."""
    changed = list(found)
    return changed[:MOST_DIFFERENCES], max(0, len(changed) - MOST_DIFFERENCES)


def compare_programs(before: str, after: str) -> tuple[list[ReportDifference], int]:
    """(the lines that changed between two test programs, how many more there are)."""
    first, second = (text.splitlines()[:MOST_COMPARED] for text in (before, after))
    return cut_differences(list_report_differences(first, second))


def list_report_differences(before: list[str], after: list[str]) -> Iterator[ReportDifference]:
    """The lines that only one of the two has, in order."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for what, start, end, new_start, new_end in matcher.get_opcodes():
        if what != "equal":
            yield from (ReportDifference("-", line) for line in before[start:end])
            yield from (ReportDifference("+", line) for line in after[new_start:new_end])


def editor_page(
    user: User, case: Case, parent: TestProgram | None, source: str = "", problem: str = ""
) -> dict[str, Any]:
    """The editor with what was just sent, else the draft, else a copy of `parent`, else a beginning."""
    draft = drafts.load_drafts(user, case.pair_id).get(Draft.Field.TEST)
    original = parent.source.text if parent else beginning_of_a_test(case.pair)
    return {
        "case": case.pk,
        "pair": case.pair_id,
        "query": case.pair.query.head,
        "candidate": candidate_code(case.pair.snippet.text),
        "source": choose_field_text(source, draft, original, again=bool(source)),
        "parent": parent.pk if parent else None,
        "runs": own_runs(user, case),
        "problem": problem,
    }


def own_runs(user: User, case: Case) -> list[dict[str, Any]]:
    """The person's latest runs of tests of their own on the case's pair, the newest first. One query."""
    related = "program__source", "program__parent__source", "execution"
    asked = ExecutionRequest.objects.filter(user=user, program__pair=case.pair_id, assignment=None)
    mine = asked.filter(program__author=user)
    rows = list(mine.select_related(*related).order_by("-id")[: MOST_SHOWN + 1])
    return [own_run(row, rows[at + 1 : at + 2]) for at, row in enumerate(rows[:MOST_SHOWN])]


def own_run(row: ExecutionRequest, before: Sequence[ExecutionRequest]) -> dict[str, Any]:
    """One run, and what its program changed in the one that ran before, if any.

    The first is laid against the test that it is a copy of. `more`: lines of the difference not shown.
    """
    parent = row.program.parent
    earlier = before[0].program.source.text if before else parent.source.text if parent else ""
    changes, more = compare_programs(earlier, row.program.source.text)
    return {"pk": row.pk, "sign": request_sign(row), "at": row.created_at, "changes": changes, "more": more}
