"""Runs a program several times, to see whether it says the same each time."""

from dataclasses import replace

from sandbox.program import Limits, Program
from sandbox.protocol import Sandbox
from sandbox.reports.canonical import canonical_text
from sandbox.reports.report import Report


def run_times(sandbox: Sandbox, program: Program, limits: Limits, times: int = 3) -> Report:
    """The report of the first of `times` runs; `flaky` has all their outcomes if their reports disagree.

    Compared is what agents read of them, without times and addresses. A run that could not be made says
    nothing: its report is given at once.
    """
    reports: list[Report] = []
    for _ in range(max(times, 1)):
        report = sandbox.run(program, limits)
        if not report.outcome.is_evidence:
            return report
        reports.append(report)
    agree = len({canonical_text(report) for report in reports}) == 1
    return replace(reports[0], flaky=() if agree else tuple(report.outcome.value for report in reports))
