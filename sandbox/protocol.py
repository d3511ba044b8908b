"""What every backend of the sandbox is to its callers."""

from dataclasses import dataclass
from typing import Protocol

from sandbox.expression_call import Answer, Call
from sandbox.program import Limits, Program
from sandbox.reports.report import Report


class SandboxUnavailable(Exception):
    """Nothing can be executed here; the message says what to install or to start."""


@dataclass(frozen=True, slots=True)
class Check:
    """One protection or fact: whether it holds, what was found, whether executing needs it, what to do."""

    name: str
    ok: bool
    found: str
    required: bool = True
    advice: str = ""


class Sandbox(Protocol):
    """Runs programs contained. Safe to share between threads.

    `name` is the backend, `image` the identity of what executes: interpreter, harness, pinned packages.
    """

    @property
    def name(self) -> str: ...

    @property
    def image(self) -> str: ...

    def run(self, program: Program, limits: Limits) -> Report:
        """Run one program; whatever goes wrong is told by the report's outcome.

        Dependencies that are not there yet are installed first.
        """

    def call(self, call: Call, limits: Limits) -> Answer:
        """Ask for the value of an expression, as contained as any program; told by the answer's outcome."""

    def install(self, requirements: tuple[str, ...]) -> None:
        """Make the layer that holds `requirements`; raises DependencyRefused or SandboxUnavailable."""

    def check(self) -> tuple[Check, ...]:
        """What is in force here."""

    def reap(self) -> int:
        """Remove what dead callers left behind; the number of things removed."""

    def close(self) -> None:
        """Give back what is held ready. Runs that are under way end as unavailable."""
