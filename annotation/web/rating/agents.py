"""What a rater may see of the agents: their test and its run, or everything behind a locked blind label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.urls import reverse

from annotation.models import Assignment, Case, TestProgram
from annotation.studies.rating import shown_pair
from annotation.studies.rating.leaky_tests import Hushed, redact_leaky_test
from annotation.studies.rating.shown_pair import SnippetSide
from annotation.web.cases.code import NO_NOTES, Code, code_of
from annotation.web.cases.evidence import (
    Evidence,
    ExecutionView,
    ProgramView,
    evidence_of,
    execution_view,
    program_view,
)
from annotation.web.cases.names import mark_missing_names
from annotation.web.cases.panes import ExecutionPane, execution_pane
from annotation.web.cases.reports import candidate_notes, program_notes
from annotation.web.review.keys import KeyView
from annotation.web.review.verdict import VerdictCard, build_verdict_card
from sandbox.reports.report import Report


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


@dataclass(frozen=True, slots=True)
class AgentPanes:
    """That as the page shows it. `verdict` is there only where everything is.

    At `from_agents` the rater's own test begins with the agents' one; empty where the rater can run nothing.
    """

    verdict: VerdictCard | None
    program: ProgramView | None
    told: int
    run: ExecutionPane | None
    strength_url: str
    strength_key: KeyView
    from_agents: str


def agent_panes(
    assignment: Assignment,
    part: AgentPart,
    keys: Mapping[str, KeyView],
    *,
    may_run: bool,
) -> AgentPanes:
    """`may_run`: whether the rater may find out now how strong the test is."""
    program, run = part.program, part.execution
    here = assignment.enrolment.study_id, assignment.study_pair.number
    start = f"{reverse('rate-pair', args=here)}?start=agents"
    return AgentPanes(
        verdict=build_verdict_card(part.evidence) if part.evidence else None,
        program=program,
        told=part.told,
        run=execution_pane(run, program, keys) if run else None,
        strength_url=reverse("rate-strength", args=[*here, program.pk]) if program and may_run else "",
        strength_key=keys["strength"],
        from_agents=start if part.source and may_run else "",
    )


def agent_part(assignment: Assignment) -> AgentPart | None:
    """None on every blind page, without a query."""
    case = shown_pair.case_shown(assignment)
    if shown_pair.shows_test(assignment):
        return test_part(case)
    return whole_part(case) if case else None


def test_part(case: Case | None) -> AgentPart:
    """The test program without what tells the verdict, and the run of it."""
    if case is None or case.program is None:
        return AgentPart(None, None, None, 0, "", ("no test",))
    quiet = redact_leaky_test(case.program.source.text, case.pair.snippet.text)
    report = quiet.report(case.execution.whole_report()) if case.execution else None
    execution = execution_view(case.execution, report) if case.execution else None
    return AgentPart(
        program=silent_view(case.program, quiet, report),
        execution=execution,
        report=report,
        told=quiet.told,
        source=quiet.text,
        rests_on=(case.program.source_id, case.execution.report_id if case.execution else None),
    )


def silent_view(program: TestProgram, quiet: Hushed, report: Report | None) -> ProgramView:
    """The program as it may be read. Its writer's reading of the query is an explanation: it is left out."""
    view = program_view(program, report)
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


def candidate_side(side: SnippetSide, report: Report | None = None) -> Code:
    """A snippet's lines with the numbers that they have in the whole text, so that links and traces fit.

    The names that it lacks are marked: they are found in its text alone, so every condition may know them.
    """
    prefix, title = prefix_of(side), "Right function" if side.name == "right" else "Function"
    title = "Left function" if side.name == "left" else title
    notes = candidate_notes(report) if report else NO_NOTES
    made = code_of(side.text.code, title, prefix, notes, numbers=side.text.numbers)
    return mark_missing_names(made, side.pair.snippet.text)


def prefix_of(side: SnippetSide) -> str:
    """With what the anchors of a snippet's lines begin."""
    return "d" if side.name == "right" else "c"
