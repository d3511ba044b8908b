"""What a rater may see of the agents: their test and its run, or everything behind a locked blind label."""

from __future__ import annotations

from dataclasses import dataclass, replace

from annotation.models import Assignment, Case
from annotation.pages.code import NO_NOTES, Code, Notes, anchor, code_of
from annotation.pages.evidence import (
    Evidence,
    ExecutionView,
    ProgramView,
    evidence_of,
    execution_view,
    program_view,
)
from annotation.pages.names import marked
from annotation.pages.reports import candidate_notes, program_notes
from annotation.studies import showing
from annotation.studies.showing import Side
from annotation.studies.telling import Hushed, hushed
from sandbox.report import Report


@dataclass(frozen=True, slots=True)
class AgentPart:
    """The test and its run; with `evidence`, everything. `told`: places in which the test was made silent.

    `source` is what a rater's own test may start from.
    """

    program: ProgramView | None
    execution: ExecutionView | None
    report: Report | None
    told: int
    source: str
    rests_on: tuple[object, ...]
    evidence: Evidence | None = None


def agent_part(assignment: Assignment) -> AgentPart | None:
    """None on every blind page, without a query."""
    case = showing.case_shown(assignment)
    if showing.shows_test(assignment):
        return test_part(case)
    return whole_part(case) if case else None


def test_part(case: Case | None) -> AgentPart:
    """The test program without what tells the verdict, and the run of it."""
    if case is None or case.program is None:
        return AgentPart(None, None, None, 0, "", ("no test",))
    quiet = hushed(case.program.source.text, case.pair.snippet.text)
    report = quiet.report(case.execution.whole_report()) if case.execution else None
    execution = execution_view(case.execution, report) if case.execution else None
    return AgentPart(
        program=silent_program(case, quiet, report),
        execution=execution,
        report=report,
        told=quiet.told,
        source=quiet.text,
        rests_on=(case.program.source_id, case.execution.report_id if case.execution else None),
    )


def silent_program(case: Case, quiet: Hushed, report: Report | None) -> ProgramView:
    """The program as it may be read. Its writer's reading of the query is an explanation: it is left out."""
    assert case.program is not None
    view = program_view(case.program, report)
    notes = program_notes(report) if report else NO_NOTES
    return replace(
        view,
        code=code_of(quiet.text, "Test program", "t", notes),
        reading="",
        helpers=tuple(map(quiet.named, view.helpers)),
        undeclared=tuple(map(quiet.named, view.undeclared)),
    )


def whole_part(case: Case) -> AgentPart:
    """All that the agents did."""
    evidence = evidence_of(case)
    report = case.execution.whole_report() if case.execution else None
    source = case.program.source.text if case.program else ""
    return AgentPart(evidence.program, evidence.execution, report, 0, source, (evidence.hash,), evidence)


def candidate_side(side: Side, report: Report | None = None) -> Code:
    """A snippet's lines with the numbers that they have in the whole text, so that links and traces fit.

    The names that it lacks are marked: they are found in its text alone, so every condition may know them.
    """
    prefix, title = prefix_of(side), "Right snippet" if side.name == "right" else "Candidate"
    notes: Notes = candidate_notes(report) if report else NO_NOTES
    made = code_of(side.text.code, "Left snippet" if side.name == "left" else title, prefix)
    lines = tuple(
        replace(
            line,
            number=number,
            anchor=anchor(prefix, number),
            marks=notes.marks.get(number, ()),
            times=notes.times.get(number, 0),
            missed=number in notes.missed,
        )
        for line, number in zip(made.lines, side.text.numbers, strict=False)
    )
    return marked(replace(made, lines=lines), side.pair.snippet.text)


def prefix_of(side: Side) -> str:
    """With what the anchors of a snippet's lines begin."""
    return "d" if side.name == "right" else "c"
