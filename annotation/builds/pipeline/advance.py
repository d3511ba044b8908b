"""One case, one stage: do the work once, then move. What can't be judged is abandoned, never guessed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from annotation.agents import fixer, paper, test_writer
from annotation.builds.limits import awaited_replies, budget, circuit_breaker, full_disk, rate_limit
from annotation.builds.pipeline import claims, program_checks, verdicts
from annotation.builds.pipeline.execution import SandboxProvider, execute_program
from annotation.builds.pipeline.llm_calls import Parked, Unjudgeable, ask_with_repair
from annotation.builds.pipeline.screening import judge_first_stage
from annotation.builds.pipeline.shown_code import find_shown_code
from annotation.llm import LLM, LLMError
from annotation.models import Build, Case, LLMCall, LostRace, ProgramText, Proposal, TestProgram
from annotation.stages import Event, Stage
from retrieval.disk_space import is_full_disk
from retrieval.texts.hostile import mark_hostile_characters
from sandbox.backends.checks import ProtectionMissing
from sandbox.dependencies import parse_install
from sandbox.package_names import distribution_for, explain_unsearchable_module
from sandbox.program import Limits, count_assertions, is_candidate_redefined
from sandbox.reports.canonical import canonical_text
from sandbox.reports.report import Outcome, Rates, Report
from sandbox.runner import DependencyRefused, SandboxUnavailable

log = logging.getLogger(__name__)
REDEFINES = "The program redefines the candidate, which is already in scope and must stay as it is."
AskerT = TypeVar("AskerT", Case, Proposal)
GiveUp = Callable[[AskerT, str], None]
LONGEST_SEEN = 2000
LONGEST_MODULE = 200
"""A program may say that it lacks a module of any name."""
USUAL_WAIT = 2.0
"""Seconds before a case is tried again that the provider or the sandbox failed."""
SECOND_TEST: Mapping[str, Any] = {**program_checks.UNRUN, "tested_again": True, "rewrites": 0}
"""A second test begins as the first did: what that one needed says nothing of this one."""
TRIES = 3
"""How often a program that loses its own sandbox is tried before its case is abandoned."""


@dataclass(frozen=True)
class Tools:
    """What the stages work with. `llm_of` gives the language model that a build asks.

    `reserved` runs what people wait for, so that no build is before them; without it `sandbox` does.
    """

    llm_of: Callable[[Build], LLM]
    sandbox: SandboxProvider
    limits: Limits = field(default_factory=Limits)
    reserved: SandboxProvider | None = None

    @property
    def for_people(self) -> SandboxProvider:
        """The sandbox of what people wait for."""
        return self.reserved or self.sandbox

    def close(self) -> None:
        """Remove the containers that were kept ready."""
        for provider in (self.sandbox, self.for_people):
            provider.close()


def advance_case(case: Case, tools: Tools) -> None:
    """Do the work of the case's stage once, then move it or put it back. Never raises for one case's sake."""
    lease, case.began = case.lease, time.monotonic()
    try:
        run_stage_work(case, tools)
    except LostRace as race:
        log.info("%s", race)
    except Exception as fault:
        if full_disk.note_full_disk(fault):
            full_disk.retry_while_full(lambda: after_fault(case, lease))
        else:
            log.exception("case %s in %s", case.pk, case.stage)
            after_fault(case, lease, f"a fault of the workbench: {fault!r}")


def run_stage_work(case: Case, tools: Tools) -> None:
    """The work of one stage, with what is known to go wrong. Raises LostRace, and what nobody foresaw."""
    try:
        WORK[Stage(case.stage)](case, tools)
    except Parked as parked:
        case.put_back(waiting=parked.call)
        # The reply may have come between the look at the call and this.
        claims.free_waiting_for(LLMCall.objects.filter(pk=parked.call.pk))
        awaited_replies.hold_for_replies(case.build)
    except budget.BudgetHeld:
        # What batches hold they hold for long.
        case.put_back(until=timezone.now() + timedelta(seconds=30 if case.build.batches else 1))
    except (budget.AlreadyAsked, rate_limit.Full):
        case.put_back(until=timezone.now() + timedelta(seconds=1))
    except budget.OverBudget as over:
        pause_whole_build(case, str(over))
    except Unjudgeable as why:
        abandon_case(case, str(why), why.call)
    except LLMError as error:
        provider_failed(case, error, abandon_case)
    except ProtectionMissing as why:
        pause_whole_build(case, str(why))
    except SandboxUnavailable as why:
        if is_full_disk(why):
            raise
        sandbox_failed(case, tools, str(why))


def after_fault(case: Case, lease: UUID | None, reason: str = "") -> None:
    """Try again from what the database holds: a move that was rolled back has left its marks on `case`.

    Without a `reason` that costs no try.
    """
    claims.mend_connection()
    case.refresh_from_db(fields=["stage", "lease", "lease_until", "attempts", "step_count"])
    if case.lease != lease:
        return
    try:
        try_again(case, reason, abandon_case) if reason else case.put_back()
    except LostRace as race:
        log.info("%s", race)


def abandon_case(case: Case, reason: str, call: LLMCall | None = None) -> None:
    """Could not judge: kept apart from every label, with the reason, what was asked, and the way back."""
    case.move(Event.GAVE_UP, note=reason, call=call, reason=reason, left_stage=case.stage)


def pause_whole_build(case: Case | Proposal, reason: str, state: str = Build.State.PAUSED) -> None:
    """Stop the whole build for a person to look at, and give the case back untouched."""
    circuit_breaker.stop_build_for_person(case.build, reason, state)
    case.put_back()


def provider_failed(asker: AskerT, error: LLMError, give_up: GiveUp[AskerT]) -> None:
    """An outage costs no attempt; a wrong key stops the build; a refused request ends who asked."""
    if error.retryable:
        circuit_breaker.record_provider_error(asker.build, error)
        asker.put_back(until=timezone.now() + circuit_breaker.asked_pause(error, USUAL_WAIT))
    elif error.provider:
        pause_whole_build(asker, error.message, Build.State.WAITING)
    else:
        give_up(asker, error.message)


def sandbox_failed(case: Case, tools: Tools, reason: str) -> None:
    """A sandbox that is away costs no try; a program that loses its own again and again is given up alone.

    Which of the two it is, another program tells. Infrastructure is never evidence.
    """
    if tools.sandbox.works(tools.limits):
        circuit_breaker.sandbox_works(case.build)
        try_again(case, f"the sandbox could not run the test program: {reason}", abandon_case)
    else:
        circuit_breaker.sandbox_failed(case.build, reason)
        case.put_back(until=timezone.now() + timedelta(seconds=USUAL_WAIT))


def try_again(asker: AskerT, reason: str, give_up: GiveUp[AskerT]) -> None:
    """Put a case, or a function to be written, back a few times, then give it up with `reason`."""
    if asker.attempts + 1 >= TRIES:
        give_up(asker, reason)
    else:
        asker.put_back(until=timezone.now() + timedelta(seconds=1 + asker.attempts), failed=True)


def write_test(case: Case, tools: Tools) -> None:
    """Neighbour writer, where the design has one; then the test writer: cases for each reading."""
    llm = tools.llm_of(case.build)
    if case.annotator.config.get("neighbour", False) and not verdicts.is_contrasted(case):
        verdicts.ask_neighbour_writer(case, llm)
        return
    shown = find_shown_code(case)
    inputs = test_writer.WriterInputs(
        query=case.pair.query.text,
        code=shown.code,
        note=shown.note,
        **find_refused_program(case),
        **tested_nothing(case),
    )
    reply, call = asked_test(case, llm, inputs)
    with transaction.atomic():
        program = keep_program(case, reply)
        if program.redefines and case.rewrites < case.annotator.config.get("rewrites", 1):
            case.move(
                Event.REJECTED_PROGRAM,
                note=REDEFINES,
                call=call,
                program=program,
                rewrites=case.rewrites + 1,
                program_id=program.pk,
            )
        else:
            case.move(
                Event.WRITTEN,
                note=reply.reading,
                call=call,
                program=program,
                program_id=program.pk,
                tally={"test_cases": count_assertions(reply.program)},
            )


def asked_test(
    case: Case, llm: LLM, inputs: test_writer.WriterInputs
) -> tuple[test_writer.TestProgramReply | paper.PlainTestReply, LLMCall]:
    """The writer's reply, by the prompt set of the case's annotator."""
    if verdicts.as_in_paper(case):
        return ask_with_repair(
            case, llm, paper.test_request(inputs, case.build.model), paper.PlainTestReply.of_reply
        )
    return ask_with_repair(
        case,
        llm,
        test_writer.build_test_writer_request(inputs, case.build.model),
        test_writer.TestProgramReply.of_reply,
    )


def find_refused_program(case: Case) -> dict[str, str]:
    """The program that went back to the writer, and why; nothing on the first try."""
    if not case.rewrites or case.program is None:
        return {}
    step = verdicts.step_of(case, Event.REJECTED_PROGRAM)
    return {"refused_program": case.program.source.text, "refused_because": step.note if step else REDEFINES}


def tested_nothing(case: Case) -> dict[str, str]:
    """What was seen of the first program, where this is the order for a second one."""
    if not case.tested_again or case.execution is None:
        return {}
    return {"tested_nothing": why_nothing(case.execution.whole_report())}


def why_nothing(report: Report) -> str:
    """Why a program came to no assertion about the candidate, in a report's words."""
    raised = f"{report.raised.type}: {report.raised.message}" if report.raised else ""
    return " ".join(filter(None, [f"{report.outcome.value}.", report.detail, raised]))[:LONGEST_SEEN]


def wants_second_test(case: Case, report: Report) -> bool:
    """Whether to ask for another program: this one tested nothing, or failed before its first assertion."""
    if case.tested_again or not case.annotator.config.get("second_test", False):
        return False
    if report.missing_module or report.outcome is Outcome.DEPENDENCY_REFUSED:
        return False  # another program would need it as well
    if report.outcome is Outcome.UNTESTED:
        return True
    return report.outcome is Outcome.ERRORED and not report.asserted and not crashed_in_candidate(report)


def crashed_in_candidate(report: Report) -> bool:
    """Whether the exception came out of the candidate: that is evidence, not the test's fault."""
    frames = report.raised.frames if report.raised else ()
    return any(frame.place == "candidate" for frame in frames)


def keep_program(case: Case, reply: test_writer.TestProgramReply | paper.PlainTestReply) -> TestProgram:
    planned: dict[str, Any] = {}
    if isinstance(reply, test_writer.TestProgramReply):
        planned = {
            "readings": [reading.model_dump() for reading in reply.readings],
            "test_cases": [asdict(case) for case in reply.cases],
            "reference": ProgramText.keep(reply.reference),
        }
    return TestProgram.objects.create(
        **planned,
        pair=case.pair,
        source=ProgramText.keep(reply.program),
        reading=reply.reading,
        helpers=list(reply.helpers),
        redefines=is_candidate_redefined(case.pair.snippet.text, reply.program),
        annotator=case.annotator,
    )


def run_test(case: Case, tools: Tools) -> None:
    """Test executor: run once; a missing module goes to the fixer while rounds are left."""
    assert case.program is not None, "a case is executed only after its program was written"
    began = timezone.now()
    execution, report = execute_program(
        case.pair.snippet.text,
        case.program,
        case.dependencies,
        tools.sandbox,
        tools.limits,
        case.annotator.config.get("repeat", 1),
    )
    if execution.created_at >= began:  # one that was stored before says nothing about the sandbox now
        circuit_breaker.sandbox_works(case.build)
    case.execution = execution
    hopeless = explain_unsearchable_module(report.missing_module) if report.missing_module else None
    fixable = report.missing_module or (report.outcome is Outcome.DEPENDENCY_REFUSED and case.fix_rounds)
    if fixable and not hopeless and case.fix_rounds < case.annotator.config.get("fix_rounds", 2):
        module = mark_hostile_characters(report.missing_module or case.missing_module)[:LONGEST_MODULE]
        move_after_execution(
            case, Event.MISSING_MODULE, report.detail or f"no module named {module}", missing_module=module
        )
    elif wants_second_test(case, report):
        tally = count_finished_program(case, Rates.of([report]))
        move_after_execution(case, Event.TESTED_NOTHING, why_nothing(report), tally=tally, **SECOND_TEST)
    else:
        test_the_test(case, tools, hopeless or report.outcome, report)


def test_the_test(case: Case, tools: Tools, note: str, report: Report) -> None:
    """Run the program with its reference and with a neighbour; what tells nothing goes back once."""
    runs = program_checks.run_checks(case, tools.sandbox, tools.limits)
    worth = verdicts.worth_of(case)
    if worth and not worth.is_sound and case.rewrites < case.annotator.config.get("rewrites", 1):
        move_after_execution(
            case,
            Event.REJECTED_PROGRAM,
            program_checks.describe_program_refusal(case, worth),
            **runs,
            **program_checks.UNRUN,
            rewrites=case.rewrites + 1,
        )
    else:
        tally = count_finished_program(case, Rates.of([report]))
        tally["sound_tests"] = int(worth is not None and worth.is_sound)
        told = f"{note}; {program_checks.worth_in_words(case, worth)}" if worth else note
        move_after_execution(case, Event.EXECUTED, told, tally=tally, **runs)


def count_finished_program(case: Case, rates: Rates) -> dict[str, int]:
    """What a program whose execution is over adds to the build's totals."""
    second = {"second_tests": rates.programs, "second_touched": rates.touched} if case.tested_again else {}
    return {**asdict(rates), **second}


def move_after_execution(case: Case, event: Event, note: str, **changes: Any) -> None:
    """Move after an execution, with program and execution as the step's evidence."""
    assert case.execution is not None, "set by the caller"
    case.move(
        event,
        note=note,
        program=case.program,
        execution=case.execution,
        execution_id=case.execution.pk,
        **changes,
    )


def fix_missing_module(case: Case, tools: Tools) -> None:
    """Bug fixer, in the paper's two stages: the module's own distribution, then the agent's suggestion."""
    direct = distribution_for(case.missing_module)
    if direct and direct not in case.dependencies:
        retry_with_dependencies(
            case, [*case.dependencies, direct], f"{case.missing_module} is in the distribution {direct}"
        )
    else:
        ask_fixer(case, tools, direct)


def ask_fixer(case: Case, tools: Tools, tried: str | None) -> None:
    """The suggestion is parsed, never executed; one that can't be parsed goes to the arbiter as refused."""
    assert case.execution is not None and case.program is not None, "fixing follows an execution"
    inputs = fixer.FixerInputs(
        module=case.missing_module,
        program=case.program.source.text,
        report=canonical_text(case.execution.whole_report()),
    )
    ordered = paper.fixer_request if verdicts.as_in_paper(case) else fixer.build_fixer_request
    reply, call = ask_with_repair(
        case, tools.llm_of(case.build), ordered(inputs, case.build.model), fixer.FixerReply.of_reply
    )
    try:
        suggested = parse_install("\n".join(reply.commands))
    except DependencyRefused as refused:
        case.move(
            Event.REFUSED, note=str(refused), call=call, tally=count_finished_program(case, Rates(programs=1))
        )
    else:
        kept = [name for name in case.dependencies if name != tried]
        retry_with_dependencies(
            case, list(dict.fromkeys([*kept, *suggested])), "\n".join(reply.commands), call
        )


def retry_with_dependencies(
    case: Case, dependencies: list[str], note: str, call: LLMCall | None = None
) -> None:
    """Back to the sandbox, which installs before it runs."""
    case.move(Event.FIXED, note=note, call=call, dependencies=dependencies, fix_rounds=case.fix_rounds + 1)


WORK: Mapping[Stage, Callable[[Case, Tools], None]] = {
    Stage.SCREENING: lambda case, tools: judge_first_stage(case, tools.llm_of(case.build)),
    Stage.READING: lambda case, tools: verdicts.ask_reader(case, tools.llm_of(case.build)),
    Stage.WRITING_TEST: write_test,
    Stage.EXECUTING: run_test,
    Stage.FIXING: fix_missing_module,
    Stage.ARBITRATING: lambda case, tools: verdicts.ask_arbiter(case, tools.llm_of(case.build)),
    Stage.TIE_BREAKING: lambda case, tools: verdicts.break_tie(case, tools.llm_of(case.build)),
}
