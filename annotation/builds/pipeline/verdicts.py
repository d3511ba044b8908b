"""The judges of an unclear case: the reader before any test, the arbiter after it, and who breaks their tie.

Reader and arbiter decide apart. Where they agree the case is settled. Where they differ the test's own cases
decide, or a third judge who sees both arguments where the test is not sound; and people see the case first.
"""

from __future__ import annotations

from typing import Final

from annotation.agents import arbiter, neighbour_writer, paper, single_llm, tie_breaker
from annotation.agents.single_llm import Criterion
from annotation.builds.pipeline.case_evidence import (
    PlannedCase,
    TestWorth,
    Vote,
    evidence_of,
    format_numbered_readings,
    vote_of_cases,
    weigh_test,
)
from annotation.builds.pipeline.labels import settle_case_label
from annotation.builds.pipeline.llm_calls import Unjudgeable, ask_with_repair
from annotation.builds.pipeline.shown_code import find_shown_code
from annotation.llm import LLM, Request
from annotation.models import Basis, Case, LLMCall, Step, TestProgram
from annotation.stages import Event
from sandbox.reports.evidence import evidence_text

VERDICT_OF: Final = {0: Event.DENIED, 1: Event.ACCEPTED}


def ask_single_llm(case: Case, llm: LLM) -> tuple[single_llm.SingleVerdict, LLMCall]:
    """What one model alone says of the pair."""
    inputs = single_llm.SingleInputs(query=case.pair.query.text, code=case.pair.snippet.text)
    request = single_llm.build_single_llm_request(inputs, case.build.model)
    return ask_with_repair(case, llm, request, single_llm.SingleVerdict.of_reply)


def ask_reader(case: Case, llm: LLM) -> None:
    """Reader: the question of one model alone, by the exact criterion, asked before there is a test."""
    verdict, call = ask_single_llm(case, llm)
    label = verdict.label(Criterion.EXACT)
    case.move(Event.READ, note=format_judge_argument(label, verdict.words), call=call)


def ask_neighbour_writer(case: Case, llm: LLM) -> None:
    """Neighbour writer: without a neighbour that can be used the test is written all the same."""
    inputs = neighbour_writer.NeighbourInputs(case.pair.query.text, find_shown_code(case).code)
    request = neighbour_writer.build_neighbour_request(inputs, case.build.model)
    try:
        neighbour, call = ask_with_repair(case, llm, request, neighbour_writer.NeighbourReply.of_reply)
    except Unjudgeable as why:
        case.move(Event.CONTRASTED, note=f"no neighbour: {why}", call=why.call)
    else:
        case.move(Event.CONTRASTED, note=neighbour.difference, call=call)


def is_contrasted(case: Case) -> bool:
    """Whether a neighbour was asked for already."""
    return case.steps.filter(event=Event.CONTRASTED).exists()


def as_in_paper(case: Case) -> bool:
    """Whether the case's annotator asks by the paper's prompt set."""
    return bool(case.annotator.config.get("prompt_set") == paper.PROMPT_SET)


def ask_arbiter(case: Case, llm: LLM) -> None:
    """Final arbiter: judges query, code, test and report; it sees neither screener nor reader."""
    verdict, call = ask_with_repair(case, llm, arbiter_request(case), arbiter.FinalVerdict.of_reply)
    read_as = reader_label(case)
    if read_as is None or read_as == verdict.verdict:
        basis = Basis.TESTED if read_as is None else Basis.AGREED
        settle_case_label(
            case, VERDICT_OF[verdict.verdict], verdict.verdict, verdict.explanation, call, basis=basis
        )
    else:
        case.move(Event.DISPUTED, note=format_judge_argument(verdict.verdict, verdict.explanation), call=call)


def arbiter_request(case: Case) -> Request:
    """The arbiter's question, by the prompt set of the case's annotator."""
    program = program_of(case)
    query, code, source = case.pair.query.text, find_shown_code(case).code, program.source.text
    if as_in_paper(case):
        assert case.execution is not None, "judging follows an execution"
        report = evidence_text(case.execution.whole_report(), source)
        plain = paper.PlainArbiterInputs(query, code, source, program.reading, report)
        return paper.arbiter_request(plain, case.build.model)
    inputs = arbiter.ArbiterInputs(
        query, code, source, readings=format_numbered_readings(readings_of(program)), report=report_for(case)
    )
    return arbiter.build_arbiter_request(inputs, case.build.model)


def break_tie(case: Case, llm: LLM) -> None:
    """Where reader and arbiter differ: the cases, if the judges read their report, else a third judge."""
    vote = vote_of(case)
    if vote is None:
        ask_tie_breaker(case, llm)
    else:
        note = f"Reader and arbiter differ, and the cases decide: {vote}."
        settle_case_label(case, VERDICT_OF[vote.label], vote.label, note, None, basis=Basis.DISPUTED)


def vote_of(case: Case) -> Vote | None:
    """The label that the case's test gives by itself; None where it has no vote, or nobody may see it."""
    if case.annotator.config.get("withhold_report", False):
        return None
    assert case.execution is not None, "a vote follows an execution"
    program = program_of(case)
    planned = PlannedCase.all_of(program.test_cases)
    return vote_of_cases(program.readings, planned, case.execution.whole_report(), worth_of(case))


def ask_tie_breaker(case: Case, llm: LLM) -> None:
    """Tie breaker: sees both arguments in an order drawn by lot, and the report."""
    program, read_step, disputed = program_of(case), step_of(case, Event.READ), step_of(case, Event.DISPUTED)
    assert read_step is not None and disputed is not None, "a tie follows two verdicts"
    said = arbiter.FinalVerdict.of_reply(reply_of(disputed)).verdict
    arguments = {reader_label(case): read_step.note, said: disputed.note}
    key = case.pair.query.text + case.pair.snippet.text
    first, second = tie_breaker.in_drawn_order(arguments[1], arguments[0], key)
    inputs = tie_breaker.TieInputs(
        query=case.pair.query.text,
        code=find_shown_code(case).code,
        first=first,
        second=second,
        readings=format_numbered_readings(readings_of(program)),
        report=report_for(case),
    )
    verdict, call = ask_with_repair(
        case,
        llm,
        tie_breaker.build_tie_breaker_request(inputs, case.build.model),
        arbiter.FinalVerdict.of_reply,
    )
    settle_case_label(
        case, VERDICT_OF[verdict.verdict], verdict.verdict, verdict.explanation, call, basis=Basis.DISPUTED
    )


def format_judge_argument(label: int, words: str) -> str:
    """What one judge said, with the verdict in words."""
    return f"{'A match' if label else 'No match'}. {words}"


def reader_label(case: Case) -> int | None:
    """What the reader said; None where the case's design has no reader."""
    step = step_of(case, Event.READ)
    if step is None:
        return None
    return single_llm.SingleVerdict.of_reply(reply_of(step)).label(Criterion.EXACT)


def neighbour_of(case: Case) -> neighbour_writer.NeighbourReply | None:
    """The neighbour that was written for the case; None where there is none that can be used."""
    step = step_of(case, Event.CONTRASTED)
    if step is None or step.call is None or step.call.error:
        return None
    return neighbour_writer.NeighbourReply.of_reply(reply_of(step))


def step_of(case: Case, event: Event) -> Step | None:
    """The last step of the case by this event."""
    rows = case.steps.filter(event=event).select_related("call__reply")
    return rows.order_by("-number").first()


def reply_of(step: Step) -> str:
    """The reply that the step rests on."""
    assert step.call is not None and step.call.reply is not None, "the step rests on a call with its reply"
    return step.call.reply.text


def program_of(case: Case) -> TestProgram:
    """The test program of a case that has one."""
    assert case.program is not None, "judging follows a test"
    return case.program


def readings_of(program: TestProgram) -> list[dict[str, object]]:
    """The program's readings; of one by an earlier design the only one."""
    return program.readings or [{"sense": program.reading, "likelihood": 100}]


def report_for(case: Case) -> str | None:
    """What the judges read of the runs; None where the annotator keeps it for people (decision 51)."""
    if case.annotator.config.get("withhold_report", False):
        return None
    assert case.execution is not None, "judging follows an execution"
    program, report = program_of(case), case.execution.whole_report()
    planned = PlannedCase.all_of(program.test_cases)
    if not planned:
        return evidence_text(report, program.source.text)
    neighbour = neighbour_of(case)
    return evidence_of(planned, report, worth_of(case), neighbour.difference if neighbour else "")


def worth_of(case: Case) -> TestWorth | None:
    """What the case's test is worth; None where neither reference nor neighbour was run."""
    runs = [run.whole_report() if run else None for run in (case.reference_run, case.neighbour_run)]
    if not any(runs):
        return None
    return weigh_test(PlannedCase.all_of(program_of(case).test_cases), *runs)
