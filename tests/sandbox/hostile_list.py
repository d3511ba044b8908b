"""The hostile programs of hostile/: what their headers promise, and what a report must say to keep it.

A header is the program's docstring: `Tries`, `Must`, then one line each, by `Name: value`, or
`Name (backend): value` where the backends differ:

Outcome          what the report may say, joined by `|`
Stopped by       the protections that each suffice, joined by `+`: without all of them it gets through
Report           what else the report says: suspicious, redefined, truncated, untouched (default: none)
Limits           what differs from LIMITS
Through          the outcome when it gets through; by default it prints ESCAPE
Evidence         none: it cannot show that it ran
Only contained   why it is never run with a protection taken away
Needs            a path of the machine that it is after
"""

import ast
import fcntl
import os
import re
import socket
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from sandbox.backends.protections import Protection
from sandbox.program import Limits, Program
from sandbox.protocol import Sandbox
from sandbox.reports.report import Outcome, Report

__all__ = [
    "ALWAYS",
    "CANDIDATE",
    "LIMIT_OFF",
    "VERDICT",
    "Hostile",
    "bait",
    "hostile_programs",
    "run_all",
    "unknown",
]

FOLDER = Path(__file__).parent / "hostile"
# Before any of them begins, it says what the one before has left.
CANDIDATE = """
import os

def answer():
    return 42

def scaled(x=42):
    return x

print("world:", {
    *os.listdir("/tmp"),
    *os.listdir("/dev/shm"),
    *filter(str.isdigit, os.listdir("/proc")),
} - {"1", str(os.getpid())} or "clean", flush=True)
"""
LIMITS = Limits(seconds=5, memory_mb=256)
# The limits of a run are protections too; these numbers are as good as none.
LIMIT_OFF = {
    "file size limit": {"file_mb": 1 << 14},
    "memory limit": {"memory_mb": 2048},
    "output limit": {"output_bytes": 1 << 24},
    "process limit": {"processes": 2000},
    "temporary space limit": {"tmp_mb": 1024},
    "time limit": {"seconds": 20},
}
# How the verdict is reached, and what cannot be taken away: "fixed" is the kernel's, the engine's or the
# harness's own doing, "teardown" the end of the sandbox, "nothing" that nobody promises it.
VERDICT = ("recorded verdict", "candidate's identity", "signs of forging")
ALWAYS = ("fixed", "teardown", "nothing")
NAMES = frozenset({*Protection, *LIMIT_OFF, *VERDICT, *ALWAYS})
_FLAGS = ("suspicious", "redefined", "truncated", "untouched")


@dataclass(frozen=True)
class Hostile:
    """One program and its header."""

    name: str
    source: str

    @property
    def program(self) -> Program:
        """What is run."""
        return Program(CANDIDATE, self.source)

    @property
    def limits(self) -> Limits:
        """What it is run under."""
        pairs = (pair.split("=") for pair in self.header("Limits").split(", ") if pair)
        return replace(LIMITS, **{name: type(getattr(LIMITS, name))(value) for name, value in pairs})

    def header(self, name: str, backend: str = "") -> str:
        """The value of one line of the header, for the backend or for both; empty when it has none."""
        text = ast.get_docstring(ast.parse(self.source)) or ""
        others = ["bubblewrap"] if backend == "forked" else []
        for key in (*(f"{name} ({one})" for one in (backend, *others)), name):
            found = re.search(rf"^{re.escape(key)}: (.+)$", text, re.MULTILINE)
            if found:
                return found[1]
        return ""

    def stopped_by(self, backend: str) -> frozenset[str]:
        """The protections that each suffice."""
        return frozenset(self.header("Stopped by", backend).split(" + "))

    def outcomes(self, backend: str) -> frozenset[str]:
        """What the report may say."""
        return frozenset(self.header("Outcome", backend).split(" | "))

    def faults(self, report: Report) -> list[str]:
        """How the report breaks the header's promise; nothing when it was contained and truly told."""
        found = []
        if str(report.outcome) not in self.outcomes(report.backend):
            found.append(f"outcome {report.outcome} ({report.detail})")
        if not self.began(report):
            found.append("no sign that it began")
        if "world: clean" not in report.stdout:
            found.append("something was left of the program before it")
        if self.got_through(report) and self.stopped_by(report.backend) != {"nothing"}:
            found.append("it got through")
        if self._flags(report) != self._promised():
            found.append(f"the report says {sorted(self._flags(report)) or 'nothing'}")
        return found

    def began(self, report: Report) -> bool:
        """Whether it shows that it reached its attack: contained never means that it did not run."""
        return self.header("Evidence") == "none" or "attack: " in report.stdout

    def got_through(self, report: Report) -> bool:
        """Whether it did what it came for."""
        through = self.header("Through")
        return str(report.outcome) == through if through else "ESCAPE" in report.stdout + report.stderr

    def _promised(self) -> frozenset[str]:
        return frozenset(filter(None, self.header("Report").split(", ")))

    def _flags(self, report: Report) -> frozenset[str]:
        facts = (bool(report.suspicious), report.redefined, report.output_truncated, not report.touched)
        return frozenset(flag for flag, holds in zip(_FLAGS, facts, strict=True) if holds)


@cache
def hostile_programs() -> tuple[Hostile, ...]:
    """All of them, by name."""
    return tuple(Hostile(path.stem, path.read_text()) for path in sorted(FOLDER.glob("*.py")))


def run_all(
    sandbox: Sandbox, programs: Sequence[Hostile] | None = None, without: frozenset[str] = frozenset()
) -> dict[str, Report]:
    """Some of them, or all, two at a time; `without` limits that are taken away.

    What a busy machine could not judge is run again.
    """
    chosen = hostile_programs() if programs is None else programs

    def run(program: Hostile) -> Report:
        limits = program.limits
        for name in without & set(LIMIT_OFF):
            changes = {key: max(getattr(limits, key), value) for key, value in LIMIT_OFF[name].items()}
            limits = replace(limits, **changes)
        # Without process 1 programs do away with the harness, as often as they are run.
        for _ in range(0 if Protection.PROCESS_1 in without else 4):
            report = sandbox.run(program.program, limits)
            if report.outcome is not Outcome.UNAVAILABLE:
                return report
        return sandbox.run(program.program, limits)

    with ThreadPoolExecutor(2) as threads:
        return dict(zip((one.name for one in chosen), threads.map(run, chosen), strict=True))


@contextmanager
def bait() -> Iterator[None]:
    """What a program that gets through finds on this machine: listeners, a secret, a file that holds it."""
    planted = Path("/var/tmp/cosqa-planted-secret")
    with ExitStack() as sockets:
        # It is one for the machine: another process of the tests waits with its own.
        lock = sockets.enter_context(open("/var/tmp/cosqa-planted.lock", "w"))
        fcntl.flock(lock, fcntl.LOCK_EX)
        planted.write_text(_SECRET)
        os.environ["COSQA_SECRET"] = _SECRET
        try:
            for family, kind, address in _LISTENERS:
                listener = sockets.enter_context(socket.socket(family, kind))
                # Whoever else listens there is as good a bait.
                with suppress(OSError):
                    listener.bind(address)
                    if kind is socket.SOCK_STREAM:
                        listener.listen(64)
            yield
        finally:
            del os.environ["COSQA_SECRET"]
            planted.unlink(missing_ok=True)


_SECRET = "PLANTED" + "SECRET"
_PORT = 46021
_LISTENERS = (
    (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", _PORT)),
    (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", _PORT)),
    (socket.AF_INET6, socket.SOCK_STREAM, ("::1", _PORT)),
    (socket.AF_UNIX, socket.SOCK_STREAM, "\0cosqa-outside"),
)


def unknown(program: Hostile) -> list[str]:
    """What of a header nobody understands."""
    backends = ("bubblewrap", "docker")
    found = [f"stopped by {name!r}" for one in backends for name in program.stopped_by(one) - NAMES]
    found += [f"outcome {name!r}" for one in backends for name in program.outcomes(one) - set(Outcome)]
    found += [f"no {name}" for name in ("Tries", "Must", "Outcome") if not program.header(name, "docker")]
    return found + [f"report {flag!r}" for flag in program._promised() - set(_FLAGS)]
