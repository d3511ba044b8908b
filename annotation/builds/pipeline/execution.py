"""Run stored programs, once for each (program, candidate, dependencies, image, limits), and calls."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from math import inf
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from annotation.builds.limits import full_disk
from annotation.builds.pipeline.claims import claim_call, claim_execution, claim_trial
from annotation.builds.pipeline.llm_calls import no_connection
from annotation.models import (
    CallAnswer,
    CallRequest,
    Execution,
    ExecutionRequest,
    ReportText,
    Request,
    SandboxCheck,
    TestProgram,
    Trial,
)
from retrieval.texts.hostile import mark_hostile_characters
from sandbox.backends.checks import Check, require_protections
from sandbox.expression_call import CALL_LIMITS, Call, CallOutcome
from sandbox.program import Limits, Program
from sandbox.reports.report import Outcome, Report
from sandbox.runner import Sandbox, SandboxUnavailable

log = logging.getLogger(__name__)
RESERVED = 2
"""Places in the sandbox for what people wait for: a build at full speed never takes them."""
SECONDS_BETWEEN_OPENINGS = 2.0
"""Opening probes the machine; what was not to be had a moment ago is not probed for each case.

What took longer to fail, such as an installation without network, is left alone for as long as it took.
"""
SECONDS_BETWEEN_CHECKS = 3600.0
FORGOTTEN = timedelta(days=1)
HARMLESS = Program(candidate="def one():\n    return 1\n", source="assert one() == 1\n")


@dataclass(frozen=True)
class Found:
    """What is known of this machine's sandbox: its checks, or why there is none."""

    backend: str = ""
    image: str = ""
    checks: tuple[Check, ...] = ()
    failure: str = ""


@dataclass
class SandboxProvider:
    """Opens the sandbox when it is first needed, and again after it was not to be had.

    It is checked before it is used, and once an hour; `note` is told what was found.
    """

    open: Callable[[], Sandbox]
    note: Callable[[Found], None] = lambda found: None
    _sandbox: Sandbox | None = None
    _failure: SandboxUnavailable | None = None
    _try_again_at: float = -inf
    _checked_at: float = -inf
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self) -> Sandbox:
        """The sandbox. Raises SandboxUnavailable, which says what is missing."""
        with self._lock:
            return self._ready()

    def _ready(self) -> Sandbox:
        if self._sandbox is not None and time.monotonic() - self._checked_at < SECONDS_BETWEEN_CHECKS:
            return self._sandbox
        began = time.monotonic()
        if self._failure and began < self._try_again_at:
            raise self._failure
        found = Found()
        try:
            self._sandbox = sandbox = self._sandbox or self.open()
            found = Found(sandbox.name, sandbox.image, sandbox.check())
            require_protections(found.checks)
        except SandboxUnavailable as why:
            self._failure, now = why, time.monotonic()
            self._try_again_at = now + max(SECONDS_BETWEEN_OPENINGS, now - began)
            self.close()
            self.note(replace(found, failure=str(why)))
            raise
        self._checked_at = time.monotonic()
        self.note(found)
        return sandbox

    def works(self, limits: Limits) -> bool:
        """Whether a program runs that can do no harm: then what was lost is one program's own sandbox."""
        try:
            run_in_sandbox(HARMLESS, self.get(), limits)
        except SandboxUnavailable:
            return False
        return True

    def watch(self) -> int:
        """Open the sandbox where it is not, then reap: for machines whose work is to execute."""
        with suppress(SandboxUnavailable):
            self.get()
        return self.reap()

    def reap(self) -> int:
        """Remove what dead workers left; nothing to do where no sandbox was opened."""
        with self._lock:
            if self._sandbox is None:
                return 0
            with suppress(SandboxUnavailable):
                self._ready()
            return self._sandbox.reap() if self._sandbox else 0

    def close(self) -> None:
        """Close the sandbox at once: whoever is opening or checking it may have minutes to go."""
        sandbox, self._sandbox = self._sandbox, None
        if sandbox:
            sandbox.close()


def keep_found(found: Found) -> None:
    """Store what is known of this machine's sandbox; forget machines not heard of for a day."""
    now = timezone.now()
    columns = {
        "backend": found.backend,
        "image": found.image,
        "checks": [asdict(check) for check in found.checks],
        "failure": mark_hostile_characters(found.failure),
        "made_at": now,
    }
    SandboxCheck.objects.update_or_create(machine=socket.gethostname(), defaults=columns)
    SandboxCheck.objects.filter(made_at__lt=now - FORGOTTEN).delete()


def execute_program(
    candidate: str,
    program: TestProgram,
    dependencies: Sequence[str],
    provider: SandboxProvider,
    limits: Limits,
    repeat: int = 1,
    name: str = "",
) -> tuple[Execution, Report]:
    """One execution of this very program and candidate: stored earlier, or run now and stored.

    It is the first, unless `repeat` names a later one. `name` is the one under which the program expects the
    candidate, where it was written for another one.

    Raises SandboxUnavailable, also for a report that says so: infrastructure is never evidence.
    """
    inputs = program.beside(candidate, dependencies, name)
    sandbox = provider.get()
    stored = Execution.objects.filter(**build_execution_key(inputs, sandbox, limits), repeat=repeat)
    earlier = stored.select_related("report").first()
    if earlier is not None:
        return earlier, earlier.whole_report()
    report = run_in_sandbox(inputs, sandbox, limits)
    return store_execution(inputs, sandbox, limits, report, repeat), report


def run_in_sandbox(inputs: Program, sandbox: Sandbox, limits: Limits) -> Report:
    """A fresh report, with no database connection held meanwhile. Raises SandboxUnavailable."""
    with no_connection():
        report = sandbox.run(inputs, limits)
    if report.outcome is Outcome.UNAVAILABLE:
        raise SandboxUnavailable(report.detail)
    return report


def build_execution_key(inputs: Program, sandbox: Sandbox, limits: Limits) -> dict[str, str]:
    """What decides a report, as columns."""
    return {
        "program_hash": inputs.source_hash,
        "candidate_hash": inputs.candidate_hash,
        "dependencies_hash": inputs.dependencies_hash,
        "image": sandbox.image,
        "limits": limits.digest(),
        "applied_as": inputs.name,
    }


def store_execution(
    inputs: Program, sandbox: Sandbox, limits: Limits, report: Report, repeat: int
) -> Execution:
    """Store a report; where another worker was faster, its row stands."""
    columns, told = build_execution_key(inputs, sandbox, limits), told_by(report, inputs, sandbox)
    return Execution.objects.get_or_create(**columns, repeat=repeat, defaults=told)[0]


def keep_anew(inputs: Program, sandbox: Sandbox, limits: Limits, report: Report) -> Execution:
    """Store a report as a row of its own, also where another worker has just taken the next number."""
    columns, told = build_execution_key(inputs, sandbox, limits), told_by(report, inputs, sandbox)
    stored = Execution.objects.filter(**columns)
    while True:
        number = 1 + (stored.aggregate(last=Max("repeat"))["last"] or 0)
        try:
            with transaction.atomic():
                return Execution.objects.create(**columns, repeat=number, **told)
        except IntegrityError:
            if not stored.filter(repeat=number).exists():
                raise


def told_by(report: Report, inputs: Program, sandbox: Sandbox) -> dict[str, Any]:
    """What is stored of a report, as columns."""
    return {
        "dependencies": list(inputs.dependencies),
        "backend": sandbox.name,
        "outcome": report.outcome.value,
        "ran": report.ran,
        "asserted": report.asserted,
        "touched": report.touched,
        "touching_lines": report.touching_lines,
        "seconds": report.seconds,
        "queued_seconds": report.queued_seconds,
        "report": ReportText.keep(report.to_json()),
    }


def fulfil_one(provider: SandboxProvider, limits: Limits) -> bool:
    """Answer one person's call, or else run one requested program, or else one of many that were asked for.

    Says whether anybody waited.
    """
    call = claim_call()
    if call is not None:
        fulfil_sandbox_request(call, "answer", lambda: answer_call_request(call, provider))
        return True
    request = claim_execution()
    if request is not None:
        fulfil_sandbox_request(request, "execution", lambda: repeat_execution(request, provider, limits))
        return True
    trial = claim_trial()
    if trial is not None:
        fulfil_sandbox_request(trial, "execution", lambda: execute_trial(trial, provider, limits))
    return trial is not None


def fulfil_sandbox_request(request: Request, column: str, work: Callable[[], Execution | CallAnswer]) -> None:
    """Store what `work` gives in the request's `column`, or why there is nothing."""
    try:
        setattr(request, column, work())
        request.state = Request.State.DONE
    except SandboxUnavailable as why:
        full_disk.note_full_disk(why)
        request.state, request.message = Request.State.FAILED, mark_hostile_characters(str(why))
    except Exception as fault:
        if full_disk.note_full_disk(fault):
            request.state = Request.State.WAITING
        else:
            log.exception("%s", request)
            request.state = Request.State.FAILED
            request.message = mark_hostile_characters(f"a fault of the workbench: {fault!r}")
    request.lease_until = None
    columns = ["state", column, "message", "lease_until"]
    full_disk.retry_while_full(lambda: request.save(update_fields=columns))


def answer_call_request(request: CallRequest, provider: SandboxProvider) -> CallAnswer:
    """Ask the candidate, and keep what it gave. Raises SandboxUnavailable, also where the answer says so."""
    call = Call(request.pair.snippet.text, request.expression, tuple(request.dependencies))
    sandbox = provider.get()
    with no_connection():
        answer = sandbox.call(call, CALL_LIMITS)
    if answer.outcome is CallOutcome.UNAVAILABLE:
        raise SandboxUnavailable(answer.detail)
    return CallAnswer.objects.create(
        candidate_hash=answer.candidate_hash,
        image=sandbox.image,
        limits=CALL_LIMITS.digest(),
        backend=sandbox.name,
        outcome=answer.outcome.value,
        seconds=answer.seconds,
        queued_seconds=answer.queued_seconds,
        text=answer.to_json(),
    )


def execute_trial(trial: Trial, provider: SandboxProvider, limits: Limits) -> Execution:
    """The stored execution of the trial's program and candidate, or a fresh one."""
    name = trial.applied_as
    return execute_program(trial.candidate, trial.program, trial.dependencies, provider, limits, name=name)[0]


def repeat_execution(request: ExecutionRequest, provider: SandboxProvider, limits: Limits) -> Execution:
    """Run the program again, whatever was stored: each run is a row of its own."""
    program = request.program
    inputs = program.beside(program.pair.snippet.text, request.dependencies)
    sandbox = provider.get()
    report = run_in_sandbox(inputs, sandbox, limits)
    return keep_anew(inputs, sandbox, limits, report)
