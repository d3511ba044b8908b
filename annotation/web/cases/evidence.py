"""All that one case rests on, for the pages that show it: code, verdicts, test programs, executions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from django.db.models import Min
from django.urls import reverse

from annotation.derived.rerun import case_takeover
from annotation.models import Case, Execution, LLMCall, Step, TestProgram
from annotation.review.evidence_hash import evidence_hash
from annotation.stages import Event, Stage
from annotation.web.cases.code import NO_NOTES, Code, code_of, truncate_code_text
from annotation.web.cases.meanings import (
    DecisiveMeaning,
    Meaning,
    find_decisive_meaning,
    list_meanings,
)
from annotation.web.cases.reports import (
    AssertionLine,
    ReportView,
    candidate_notes,
    not_reached,
    program_notes,
    report_view,
)
from annotation.web.cases.traces import MOST_STEPS
from annotation.web.rounds.page import links_of
from annotation.web.shared.words import (
    EVENTS,
    OUTCOMES,
    STAGES,
    WORKERS,
    Sign,
    case_sign,
    format_dollars,
    format_duration,
)
from retrieval.models.prepared_query import PreparedQuery
from sandbox.candidate.blocks import RUN_BLOCK, read_block
from sandbox.program import list_test_helpers
from sandbox.reports.report import Report

LONGEST_TEXT = 20_000
ACTORS: Final[Mapping[str, str]] = MappingProxyType({Event.CONTRASTED: "neighbour writer"})
"""Who made a step, where the stage does not say it."""
DECIDED: Final = (Event.ACCEPTED, Event.DENIED)
RELATED = ("pair__query__body", "pair__snippet__body", "build__rerun", "annotator", "program", "execution")

STEPS: PreparedQuery[Step] = PreparedQuery(
    lambda case: (
        Step.objects.filter(case=case)
        .select_related("call", "program__source", "program__author", "execution__report")
        .order_by("number")
    ),
    int,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One step of the case: who did what, the verdict and the explanation, word for word."""

    number: int
    stage: str
    who: str
    sign: Sign
    explanation: str
    cut: int
    call: dict[str, Any] | None
    at: datetime
    event: str = ""


@dataclass(frozen=True, slots=True)
class ProgramView:
    """A test program with its reading and the helpers that its writer had to invent.

    `readings` are senses of the query in the order of the numbers that the cases' names carry.
    """

    pk: int
    code: Code
    reading: str
    readings: Sequence[Mapping[str, Any]]
    helpers: tuple[str, ...]
    undeclared: tuple[str, ...]
    redefines: bool
    author: str
    not_reached: tuple[AssertionLine, ...] = ()


@dataclass(frozen=True, slots=True)
class ExecutionView:
    """One execution with its report."""

    pk: int
    outcome: str
    report: ReportView
    dependencies: tuple[str, ...]
    image: str
    repeat: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Evidence:
    """One case's evidence. `earlier_*` are the programs and executions that were followed by others.

    `origin` is the case of another build that this one takes up, with the word of the stage where it does.
    `decisive` is the meaning on which the verdict rests, where the test checks several.
    """

    case: Case
    query: str
    query_cut: int
    sign: Sign
    stage: Sign
    candidate: Code
    verdicts: tuple[Verdict, ...]
    totals: dict[str, Any]
    program: ProgramView | None
    earlier_programs: tuple[ProgramView, ...]
    execution: ExecutionView | None
    earlier_executions: tuple[ExecutionView, ...]
    hash: str
    origin: tuple[Case, str] | None = None
    dispute: tuple[Verdict, ...] = ()
    rounds: Sequence[Case] = ()
    decisive: DecisiveMeaning | None = None


def evidence_of(case: Case, most_steps: int | None = MOST_STEPS) -> Evidence:
    """The evidence of a case in at most two queries; read the case with `select_related(*RELATED)`.

    Where its build has several rounds one query more finds them.
    """
    steps = steps_of(case)
    execution = next((step.execution for step in steps if step.execution_id == case.execution_id), None)
    report = execution.whole_report() if execution else None
    program = next((step.program for step in steps if step.program_id == case.program_id), None)
    query, query_cut = truncate_code_text(case.pair.query.text, LONGEST_TEXT)
    verdicts = verdicts_of(case, steps)
    return Evidence(
        case=case,
        query=query,
        query_cut=query_cut,
        sign=case_sign(case.stage, case.label),
        stage=STAGES[case.stage],
        candidate=replace(
            candidate_code(case.pair.snippet.text, report, program=program),
            whole=reverse("case-candidate", args=[case.pk]),
        ),
        verdicts=verdicts,
        totals=totals_of(verdicts),
        program=program_view(program, report) if program else None,
        earlier_programs=earlier_programs(case, steps),
        execution=execution_view(
            execution, report, most_steps=most_steps, meanings=list_meanings(case.program)
        )
        if execution
        else None,
        earlier_executions=earlier_executions(case, steps),
        hash=evidence_hash(case, steps),
        origin=origin_of(case),
        dispute=dispute_of(verdicts),
        rounds=links_of(case),
        decisive=find_decisive_meaning(case.program, report, case.label),
    )


def origin_of(case: Case) -> tuple[Case, str] | None:
    """Where the first steps were made; None, without a query, where all were made in this build."""
    found = case_takeover.origin_of_case(case)
    return (found, STAGES[case.build.rerun.stage].word) if found else None


def steps_of(case: Case) -> list[Step]:
    """The case's steps with what each rests on, in order; one query."""
    return STEPS.load(case.pk)


def candidate_code(
    text: str, report: Report | None = None, prefix: str = "c", program: TestProgram | None = None
) -> Code:
    """The candidate's lines; with a report, also how often each was traced and what was never reached.

    Beside a program that calls a block as a function the report counts the function's lines.
    """
    notes = candidate_notes(report) if report else NO_NOTES
    block = read_block(text) if report and program and RUN_BLOCK in program.source.text else None
    if block and block.code:
        notes = notes.moved_up() if block.keeps_lines else NO_NOTES
    return code_of(text, "Function", prefix, notes)


def verdicts_of(case: Case, steps: Sequence[Step]) -> tuple[Verdict, ...]:
    """Each step as a verdict; one query finds the calls that served another case before."""
    ids = [step.call_id for step in steps if step.call_id]
    served = Step.objects.filter(call__in=ids).order_by().values_list("call").annotate(first=Min("id"))
    first = dict(served) if ids else {}
    return tuple(verdict_of(case, step, first) for step in steps)


def verdict_of(case: Case, step: Step, first: dict[int, int]) -> Verdict:
    explanation, cut = truncate_code_text(step.note, LONGEST_TEXT)
    ran = OUTCOMES[step.execution.outcome] if step.execution and step.event == Event.EXECUTED else None
    reused = step.call is not None and (
        step.call.build_id != case.build_id or first.get(step.call.pk, step.pk) != step.pk
    )
    return Verdict(
        number=step.number,
        stage=STAGES[step.before].word,
        who=actor_of(step),
        sign=EVENTS[step.event] if ran is None else Sign(ran.mark, f"test {ran.word}", ran.tone),
        explanation=explanation.partition("; ")[2] if ran else explanation,
        cut=cut,
        call=call_view(step.call, reused) if step.call else None,
        at=step.at,
        event=step.event,
    )


def actor_of(step: Step) -> str:
    """Who made a step; a tie that no agent was asked to break was broken by the test's cases."""
    if step.before == Stage.TIE_BREAKING and step.call_id is None and step.event in DECIDED:
        return "test cases"
    return ACTORS.get(step.event, WORKERS.get(step.before, ""))


def dispute_of(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """The last words of reader and arbiter, where they differ; empty where they don't, or not any more."""
    last = {verdict.event: verdict for verdict in verdicts}
    if Event.DISPUTED not in last:
        return ()
    return last[Event.READ], last[Event.DISPUTED]


def call_view(call: LLMCall, reused: bool = False) -> dict[str, Any]:
    """A call to a model and what it cost. `reused`: another case or build had paid for it."""
    return {
        "row": call,
        "model": call.answered_by or call.model,
        "cost": format_dollars(call.cost) if call.cost or call.price_id else "not priced",
        "latency": "" if call.latency is None else format_duration(call.latency),
        "reused": reused,
    }


def totals_of(verdicts: Iterable[Verdict]) -> dict[str, Any]:
    """What the case's calls add up to; reused ones cost nothing."""
    paid = [verdict.call["row"] for verdict in verdicts if verdict.call and not verdict.call["reused"]]
    return {
        "calls": len(paid),
        "cost": format_dollars(sum(call.cost for call in paid)),
        "input_tokens": sum(call.input_tokens for call in paid),
        "output_tokens": sum(call.output_tokens for call in paid),
    }


def program_view(program: TestProgram, report: Report | None = None, prefix: str = "t") -> ProgramView:
    """A test program (read with its source and author), its lines marked by `report` if there is one."""
    text = program.source.text
    declared = tuple(str(name) for name in program.helpers)
    cases = {str(case["name"]) for case in program.test_cases}
    notes = program_notes(report) if report else NO_NOTES
    return ProgramView(
        pk=program.pk,
        code=code_of(text, "Test program", prefix, notes),
        reading=program.reading,
        readings=program.readings,
        helpers=declared,
        undeclared=tuple(
            name for name in list_test_helpers(text) if name not in declared and name not in cases
        ),
        redefines=program.redefines,
        author=program.author.get_username() if program.author else "test writer",
        not_reached=not_reached(text, report, prefix) if report else (),
    )


def execution_view(
    execution: Execution,
    report: Report | None = None,
    program: str = "t",
    candidate: str = "c",
    most_steps: int | None = MOST_STEPS,
    meanings: Sequence[Meaning] = (),
) -> ExecutionView:
    """An execution (read with its report) for the page whose lines carry these prefixes.

    `meanings`: those of the test, where it checks several.
    """
    return ExecutionView(
        pk=execution.pk,
        outcome=execution.outcome,
        report=report_view(report or execution.whole_report(), program, candidate, most_steps, meanings),
        dependencies=tuple(str(name) for name in execution.dependencies),
        image=execution.image,
        repeat=execution.repeat,
        at=execution.created_at,
    )


def earlier_programs(case: Case, steps: Iterable[Step]) -> tuple[ProgramView, ...]:
    """The programs that were replaced; their lines carry prefixes of their own."""
    rows = {step.program_id: step.program for step in steps if step.program_id != case.program_id}
    return tuple(program_view(row, prefix=f"t{row.pk}") for row in rows.values() if row)


def earlier_executions(case: Case, steps: Iterable[Step]) -> tuple[ExecutionView, ...]:
    """The executions before the last one, each linked to the lines of the program that it ran."""
    rows = {step.execution_id: step for step in steps if step.execution_id != case.execution_id}
    return tuple(
        execution_view(
            step.execution, program="t" if step.program_id == case.program_id else f"t{step.program_id}"
        )
        for step in rows.values()
        if step.execution
    )
