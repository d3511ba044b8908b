"""One case, one stage: do the work once, then move. What can't be judged is abandoned, never guessed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from annotation import budget, claims, limiter, outages, program_checks, verdicts
from annotation.agents import fixer, paper, test_writer
from annotation.asking import Asker, Parked, Unjudgeable, ask
from annotation.executing import SandboxProvider, execute
from annotation.llm import LLM, LLMError
from annotation.models import Build, Case, LLMCall, LostRace, ProgramText, TestProgram
from annotation.screening import judge
from annotation.stages import Event, Stage
from retrieval.hostile import clean
from sandbox.checks import ProtectionMissing
from sandbox.dependencies import parse_install
from sandbox.modules import distribution_for, unsearchable
from sandbox.program import Limits, assertions, redefines
from sandbox.report import Outcome, Rates, Report
from sandbox.runner import DependencyRefused, SandboxUnavailable

log = logging.getLogger(__name__)
REDEFINES = "The program redefines the candidate, which is already in scope and must stay as it is."
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


def advance(case: Case, tools: Tools) -> None:
    """Do the work of the case's stage once, then move it or put it back. Never raises for one case's sake."""
    lease, case.began = case.lease, time.monotonic()
    try:
        work(case, tools)
    except LostRace as race:
        log.info("%s", race)
    except Exception as fault:
        log.exception("case %s in %s", case.pk, case.stage)
        after_fault(case, lease, f"a fault of the workbench: {fault!r}")


def work(case: Case, tools: Tools) -> None:
    """The work of one stage, with what is known to go wrong. Raises LostRace, and what nobody foresaw."""
    try:
        WORK[Stage(case.stage)](case, tools)
    except Parked as parked:
        case.put_back(waiting=parked.call)
        # The reply may have come between the look at the call and this.
        claims.free_waiting_for(LLMCall.objects.filter(pk=parked.call.pk))
    except budget.BudgetHeld:
        # What batches hold they hold for long.
        case.put_back(until=timezone.now() + timedelta(seconds=30 if case.build.batches else 1))
    except (budget.AlreadyAsked, limiter.Full):
        case.put_back(until=timezone.now() + timedelta(seconds=1))
    except budget.OverBudget as over:
        pause(case, str(over))
    except Unjudgeable as why:
        abandon(case, str(why), why.call)
    except LLMError as error:
        provider_failed(case, error)
    except ProtectionMissing as why:
        pause(case, str(why))
    except SandboxUnavailable as why:
        sandbox_failed(case, tools, str(why))


def after_fault(case: Case, lease: UUID | None, reason: str) -> None:
    """Try again from what the database holds: a move that was rolled back has left its marks on `case`."""
    claims.mend_connection()
    case.refresh_from_db(fields=["stage", "lease", "lease_until", "attempts", "steps_made"])
    if case.lease != lease:
        return
    try:
        try_again(case, reason)
    except LostRace as race:
        log.info("%s", race)


def abandon(case: Case, reason: str, call: LLMCall | None = None) -> None:
    """Could not judge: kept apart from every label, with the reason, what was asked, and the way back."""
    case.move(Event.GAVE_UP, note=reason, call=call, reason=reason, left=case.stage)


def pause(case: Asker, reason: str, state: str = Build.State.PAUSED) -> None:
    """Stop the whole build for a person to look at, and give the case back untouched."""
    outages.stop(case.build, reason, state)
    case.put_back()


def provider_failed(case: Case, error: LLMError) -> None:
    """An outage costs no attempt; a wrong key stops the build; a refused request abandons its case."""
    if error.retryable:
        outages.failed(case.build, error)
        case.put_back(until=timezone.now() + outages.asked_pause(error, USUAL_WAIT))
    elif error.provider:
        pause(case, error.message, Build.State.WAITING)
    else:
        abandon(case, error.message)


def sandbox_failed(case: Case, tools: Tools, reason: str) -> None:
    """A sandbox that is away costs no try; a program that loses its own again and again is given up alone.

    Which of the two it is, another program tells. Infrastructure is never evidence.
    """
    if tools.sandbox.works(tools.limits):
        outages.sandbox_works(case.build)
        try_again(case, f"the sandbox could not run the test program: {reason}")
    else:
        outages.sandbox_failed(case.build, reason)
        case.put_back(until=timezone.now() + timedelta(seconds=USUAL_WAIT))


def try_again(case: Case, reason: str) -> None:
    """Put the case back a few times, then abandon it with `reason`."""
    if case.attempts + 1 >= TRIES:
        abandon(case, reason)
    else:
        case.put_back(until=timezone.now() + timedelta(seconds=1 + case.attempts), failed=True)


def write_test(case: Case, tools: Tools) -> None:
    """Neighbour writer, where the design has one; then the test writer: cases for each reading."""
    llm = tools.llm_of(case.build)
    if case.annotator.config.get("neighbour", False) and not verdicts.is_contrasted(case):
        verdicts.contrast(case, llm)
        return
    inputs = test_writer.WriterInputs(
        query=case.pair.query.text, code=case.pair.snippet.text, **refused(case), **tested_nothing(case)
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
                tally={"test_cases": assertions(reply.program)},
            )


def asked_test(
    case: Case, llm: LLM, inputs: test_writer.WriterInputs
) -> tuple[test_writer.TestProgramReply | paper.PlainTestReply, LLMCall]:
    """The writer's reply, by the prompt set of the case's annotator."""
    if verdicts.as_in_paper(case):
        return ask(case, llm, paper.test_request(inputs, case.build.model), paper.parse_test)
    return ask(case, llm, test_writer.request(inputs, case.build.model), test_writer.parse)


def refused(case: Case) -> dict[str, str]:
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
        redefines=redefines(case.pair.snippet.text, reply.program),
        annotator=case.annotator,
    )


def run_test(case: Case, tools: Tools) -> None:
    """Test executor: run once; a missing module goes to the fixer while rounds are left."""
    assert case.program is not None, "a case is executed only after its program was written"
    began = timezone.now()
    execution, report = execute(
        case.pair.snippet.text,
        case.program,
        case.dependencies,
        tools.sandbox,
        tools.limits,
        case.annotator.config.get("repeat", 1),
    )
    if execution.created_at >= began:  # one that was stored before says nothing about the sandbox now
        outages.sandbox_works(case.build)
    case.execution = execution
    hopeless = unsearchable(report.missing_module) if report.missing_module else None
    fixable = report.missing_module or (report.outcome is Outcome.DEPENDENCY_REFUSED and case.fix_rounds)
    if fixable and not hopeless and case.fix_rounds < case.annotator.config.get("fix_rounds", 2):
        module = clean(report.missing_module or case.missing_module)[:LONGEST_MODULE]
        executed(
            case, Event.MISSING_MODULE, report.detail or f"no module named {module}", missing_module=module
        )
    elif wants_second_test(case, report):
        tally = counted(case, Rates.of([report]))
        executed(case, Event.TESTED_NOTHING, why_nothing(report), tally=tally, **SECOND_TEST)
    else:
        test_the_test(case, tools, hopeless or report.outcome, report)


def test_the_test(case: Case, tools: Tools, note: str, report: Report) -> None:
    """Run the program with its reference and with a neighbour; what tells nothing goes back once."""
    runs = program_checks.run_checks(case, tools.sandbox, tools.limits)
    worth = verdicts.worth_of(case)
    if worth and not worth.is_sound and case.rewrites < case.annotator.config.get("rewrites", 1):
        executed(
            case,
            Event.REJECTED_PROGRAM,
            program_checks.complaint(case, worth),
            **runs,
            **program_checks.UNRUN,
            rewrites=case.rewrites + 1,
        )
    else:
        tally = counted(case, Rates.of([report]))
        tally["sound_tests"] = int(worth is not None and worth.is_sound)
        told = f"{note}; {program_checks.worth_in_words(case, worth)}" if worth else note
        executed(case, Event.EXECUTED, told, tally=tally, **runs)


def counted(case: Case, rates: Rates) -> dict[str, int]:
    """What a program whose execution is over adds to the build's totals."""
    second = {"second_tests": rates.programs, "second_touched": rates.touched} if case.tested_again else {}
    return {**asdict(rates), **second}


def executed(case: Case, event: Event, note: str, **changes: Any) -> None:
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


def fix(case: Case, tools: Tools) -> None:
    """Bug fixer, in the paper's two stages: the module's own distribution, then the agent's suggestion."""
    direct = distribution_for(case.missing_module)
    if direct and direct not in case.dependencies:
        install(case, [*case.dependencies, direct], f"{case.missing_module} is in the distribution {direct}")
    else:
        ask_fixer(case, tools, direct)


def ask_fixer(case: Case, tools: Tools, tried: str | None) -> None:
    """The suggestion is parsed, never executed; one that can't be parsed goes to the arbiter as refused."""
    assert case.execution is not None and case.program is not None, "fixing follows an execution"
    inputs = fixer.FixerInputs(
        module=case.missing_module,
        program=case.program.source.text,
        report=case.execution.whole_report().canonical(),
    )
    ordered = paper.fixer_request if verdicts.as_in_paper(case) else fixer.request
    reply, call = ask(case, tools.llm_of(case.build), ordered(inputs, case.build.model), fixer.parse)
    try:
        suggested = parse_install("\n".join(reply.commands))
    except DependencyRefused as refused:
        case.move(Event.REFUSED, note=str(refused), call=call, tally=counted(case, Rates(programs=1)))
    else:
        kept = [name for name in case.dependencies if name != tried]
        install(case, list(dict.fromkeys([*kept, *suggested])), "\n".join(reply.commands), call)


def install(case: Case, dependencies: list[str], note: str, call: LLMCall | None = None) -> None:
    """Back to the sandbox, which installs before it runs."""
    case.move(Event.FIXED, note=note, call=call, dependencies=dependencies, fix_rounds=case.fix_rounds + 1)


WORK: Mapping[Stage, Callable[[Case, Tools], None]] = {
    Stage.SCREENING: lambda case, tools: judge(case, tools.llm_of(case.build)),
    Stage.READING: lambda case, tools: verdicts.read(case, tools.llm_of(case.build)),
    Stage.WRITING_TEST: write_test,
    Stage.EXECUTING: run_test,
    Stage.FIXING: fix,
    Stage.ARBITRATING: lambda case, tools: verdicts.arbitrate(case, tools.llm_of(case.build)),
    Stage.TIE_BREAKING: lambda case, tools: verdicts.break_tie(case, tools.llm_of(case.build)),
}
