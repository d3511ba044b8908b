"""What somebody does who is told that the machine was too busy to judge a program: run it again."""

from __future__ import annotations

from sandbox.program import Limits, Program
from sandbox.reports.report import Outcome, Report
from sandbox.runner import Sandbox

TRIES = 5


def judged(sandbox: Sandbox, program: Program, limits: Limits) -> Report:
    """The report of the first run in which the program had the processor for its time."""
    for _ in range(TRIES - 1):
        report = sandbox.run(program, limits)
        if report.outcome is not Outcome.UNAVAILABLE or "too busy" not in report.detail:
            return report
    return sandbox.run(program, limits)
