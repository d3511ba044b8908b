"""What both backends do alike: queue, ask the harness, retry the machine's faults once, diagnose."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sandbox.backends.queue import Queue
from sandbox.candidate.syntax import TooComplex
from sandbox.dependencies import DependencyRefused
from sandbox.expression_call import NO_PLAN, Answer, Call, build_call_answer, not_called
from sandbox.plan import ExecutionPlan, plan_execution
from sandbox.program import Limits, Program
from sandbox.protocol import SandboxUnavailable
from sandbox.reports.diagnosis import diagnose_run
from sandbox.reports.observation import Garbled, Observation, killed_for_memory, parse_harness_reply
from sandbox.reports.report import Outcome, Report

STARVED = "no verdict: the machine ran out of memory. Try again later"
# The whole environment of a run: the same on both backends, and nothing of the caller's.
ENVIRONMENT = {
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "MPLBACKEND": "agg",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "TZ": "UTC",
    "USER": "nobody",
}
PACKAGES_VARIABLE = "PYTHONPATH"
GRACE_SECONDS = 10.0
OOM_SCORE = 500
"""How much sooner than others the kernel ends a run when the machine has no memory left."""
_STARTS, _LOSSES = 3, 2
_PAUSE_SECONDS = 0.2
_BUSY_FACTOR = 8
_LONGEST_REPLY = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Packages:
    """Package folders by their name inside the sandbox; None where the backend has its own way there.

    `first` is a large library that the program imports before anything else that counts, empty for none.
    """

    folders: Mapping[str, Path | None] = field(default_factory=dict)
    first: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back from one harness, with the kernel's kills for memory as seen from outside.

    Without data the harness itself was among those killed. Once the reply was read, `release` is told whether
    all was as it should be: only then may anything of that sandbox serve again.
    """

    data: bytes
    oom_kills: int | None = None
    release: Callable[[bool], None] = lambda clean: None


# Sends a request, gives the reply; raises NotStarted, HarnessLost, Garbled or SandboxUnavailable. The last
# argument asks for a sandbox that was not made ahead.
Exchange = Callable[[bytes, Limits, Packages, bool], Reply]


class NotStarted(Exception):
    """No harness was there to be asked: the machine's fault, whatever the program."""


class HarnessLost(Exception):
    """The harness ended or fell silent without a reply: the machine's fault, or the program's."""


class NotRun(Exception):
    """Nothing was executed; `outcome` says why in a report's words, `queued_seconds` how long it waited."""

    def __init__(self, outcome: Outcome, why: Exception, queued_seconds: float = 0.0) -> None:
        super().__init__(str(why))
        self.outcome, self.queued_seconds = outcome, queued_seconds


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs programs for one backend: `prepare` makes a program's packages ready, `exchange` asks one harness.

    `limit_processes` has the harness set RLIMIT_NPROC, which counts per user namespace: not for containers.
    """

    backend: str
    queue: Queue
    limit_processes: bool
    prepare: Callable[[Program], Packages]
    exchange: Exchange

    def run(self, program: Program, limits: Limits) -> Report:
        """The report, whatever happened; see Sandbox.run."""
        try:
            planned = plan_execution(program)
        except TooComplex as why:
            candidate = program.candidate_hash
            return Report(Outcome.ERRORED, detail=str(why), candidate_hash=candidate, backend=self.backend)
        try:
            seen, queued = self._observed(program, planned, limits)
        except NotRun as why:
            return self._not_run(why, program)
        return diagnose_run(program, planned, limits, seen, backend=self.backend, queued_seconds=queued)

    def call(self, call: Call, limits: Limits) -> Answer:
        """The answer, whatever happened; see Sandbox.call."""
        try:
            seen, queued = self._observed(call.program, NO_PLAN, limits, expression=True)
        except NotRun as why:
            return not_called(self._not_run(why, call.program))
        return build_call_answer(call, limits, seen, backend=self.backend, queued_seconds=queued)

    def _observed(
        self, program: Program, planned: ExecutionPlan, limits: Limits, expression: bool = False
    ) -> tuple[Observation, float]:
        """What was seen of the run, and the seconds that it waited for its turn. Raises NotRun."""
        packages, queued = self._prepared(program), self.queue.waited()
        try:
            request = self._request(program, planned, limits, packages, expression)
            return self._seen(program, request, limits, packages), queued
        except SandboxUnavailable as error:
            raise NotRun(Outcome.UNAVAILABLE, error, queued) from error
        finally:
            self.queue.leave()

    def _prepared(self, program: Program) -> Packages:
        try:
            return self.prepare(program)
        except DependencyRefused as error:
            raise NotRun(Outcome.DEPENDENCY_REFUSED, error) from error
        except SandboxUnavailable as error:
            raise NotRun(Outcome.UNAVAILABLE, error) from error

    def _seen(self, program: Program, message: bytes, limits: Limits, packages: Packages) -> Observation:
        """Raises SandboxUnavailable when nothing started, or what started was lost again and again."""
        told: list[Exception] = []
        while _is_worth_another(told):
            if told:
                # They may be what was lost; their folders keep their names.
                packages = self._prepared(program)
            try:
                reply = self.exchange(message, limits, packages, bool(told))
                return _judgeable(_parsed(reply))
            except (NotStarted, HarnessLost, Garbled) as error:
                told.append(error)
                time.sleep(_PAUSE_SECONDS)
        raise SandboxUnavailable(_no_verdict(told))

    def _request(
        self, program: Program, planned: ExecutionPlan, limits: Limits, packages: Packages, expression: bool
    ) -> bytes:
        return json.dumps(
            {
                "candidate": program.code,
                "source": program.source,
                "expression": expression,
                "trace": program.trace,
                "limits": {**asdict(limits), "longest": longest_wall_seconds(limits)},
                **planned.for_harness(),
                "paths": list(packages.folders),
                "limit_processes": self.limit_processes,
                # A Python that the program starts finds the same packages.
                "environment": {**ENVIRONMENT, PACKAGES_VARIABLE: ":".join(packages.folders)},
            }
        ).encode()

    def _not_run(self, why: NotRun, program: Program) -> Report:
        return Report(
            why.outcome,
            detail=str(why),
            queued_seconds=why.queued_seconds,
            backend=self.backend,
            candidate_hash=program.candidate_hash,
        )


def _parsed(reply: Reply) -> Observation:
    clean = False
    try:
        seen = parse_harness_reply(reply.data, reply.oom_kills) if reply.data else killed_for_memory()
        clean = seen.is_clean()
    finally:
        reply.release(clean)
    return seen


def _is_worth_another(told: Sequence[Exception]) -> bool:
    lost = [error for error in told if not isinstance(error, NotStarted)]
    return len(told) < _STARTS and len(lost) < _LOSSES


def _no_verdict(told: Sequence[Exception]) -> str:
    reasons = "; ".join(dict.fromkeys(map(str, told)))
    if isinstance(told[-1], NotStarted):
        return f"the program was not run: {reasons}. Try again later"
    return f"no verdict: the sandbox was lost {_LOSSES} times, perhaps by the program itself: {reasons}"


def _judgeable(seen: Observation) -> Observation:
    """The same; raises SandboxUnavailable when the machine, not the program, made its end."""
    if seen.stopped == "starved":
        raise SandboxUnavailable(STARVED)
    if seen.stopped == "busy":
        had = f"{seen.cpu_seconds:.1f} s of a processor in {seen.seconds:.0f} s"
        raise SandboxUnavailable(
            f"no verdict: the machine was too busy, the program had {had}. Try again later"
        )
    return seen


def longest_wall_seconds(limits: Limits) -> float:
    """Seconds on the wall after which a run ends, however little of them a busy machine gave to it."""
    return limits.seconds * _BUSY_FACTOR


def shared_memory_mb(tmp_mb: int) -> int:
    """The size of /dev/shm beside a /tmp of `tmp_mb`: a program has nowhere else to write."""
    return tmp_mb // 2


def read_reply(read: Callable[[int], bytes]) -> bytes:
    """One length-prefixed reply; `read(at_most)` gives b"" at the end. Raises HarnessLost, Garbled."""
    length = int.from_bytes(_exactly(read, 4), "big")
    if length > _LONGEST_REPLY:
        raise Garbled(f"the harness announced a reply of {length} bytes")
    return _exactly(read, length)


def _exactly(read: Callable[[int], bytes], length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        part = read(length - len(data))
        if not part:
            raise HarnessLost(f"the harness ended after {len(data)} of {length} bytes")
        data += part
    return bytes(data)
