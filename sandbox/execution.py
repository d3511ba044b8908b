"""What both backends do alike: queue, ask the harness, retry the machine's faults once, diagnose."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sandbox.calling import NO_PLAN, Answer, Call, answer, not_called
from sandbox.dependencies import DependencyRefused
from sandbox.diagnosis import Garbled, Observation, diagnose, killed_for_memory, observation
from sandbox.plan import Plan, plan
from sandbox.program import Limits, Program
from sandbox.protocol import SandboxUnavailable
from sandbox.queueing import Queue
from sandbox.report import Outcome, Report

__all__ = [
    "ENVIRONMENT",
    "GRACE_SECONDS",
    "STARVED",
    "HarnessLost",
    "NotStarted",
    "Packages",
    "Reply",
    "Runner",
    "longest",
    "read_reply",
]

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
GRACE_SECONDS = 10.0
_STARTS, _LOSSES = 3, 2
_PAUSE_SECONDS = 0.2
_BUSY_FACTOR = 8
_LONGEST_REPLY = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Packages:
    """Package folders by their name inside the sandbox; None where the backend has its own way there."""

    folders: Mapping[str, Path | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back from one harness, with the kernel's kills for memory as seen from outside.

    Without data the harness itself was among those killed.
    """

    data: bytes
    oom_kills: int | None = None


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
        planned = plan(program)
        try:
            seen, queued = self._observed(program, planned, limits)
        except NotRun as why:
            return self._not_run(why, program)
        return diagnose(program, planned, limits, seen, backend=self.backend, queued_seconds=queued)

    def call(self, call: Call, limits: Limits) -> Answer:
        """The answer, whatever happened; see Sandbox.call."""
        try:
            seen, queued = self._observed(call.program, NO_PLAN, limits, expression=True)
        except NotRun as why:
            return not_called(self._not_run(why, call.program))
        return answer(call, limits, seen, backend=self.backend, queued_seconds=queued)

    def _observed(
        self, program: Program, planned: Plan, limits: Limits, expression: bool = False
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
                seen = observation(reply.data, reply.oom_kills) if reply.data else killed_for_memory()
                return _judgeable(seen)
            except (NotStarted, HarnessLost, Garbled) as error:
                told.append(error)
                time.sleep(_PAUSE_SECONDS)
        raise SandboxUnavailable(_no_verdict(told))

    def _request(
        self, program: Program, planned: Plan, limits: Limits, packages: Packages, expression: bool
    ) -> bytes:
        return json.dumps(
            {
                "candidate": program.candidate,
                "source": program.source,
                "expression": expression,
                "trace": program.trace,
                "limits": {**asdict(limits), "longest": longest(limits)},
                **planned.for_harness(),
                "paths": list(packages.folders),
                "limit_processes": self.limit_processes,
                "environment": ENVIRONMENT,
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


def longest(limits: Limits) -> float:
    """Seconds on the wall after which a run ends, however little of them a busy machine gave to it."""
    return limits.seconds * _BUSY_FACTOR


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
