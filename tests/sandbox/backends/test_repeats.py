from collections.abc import Iterator
from typing import cast

import pytest

from sandbox.backends.repeats import run_times
from sandbox.program import Limits, Program
from sandbox.protocol import Sandbox
from sandbox.reports.canonical import canonical_text
from sandbox.reports.report import Outcome, Report

PROGRAM = Program("def f():\n    return 1\n", "assert f() == 1\n")


class Scripted:
    """A sandbox whose runs were written down before."""

    def __init__(self, *reports: Report) -> None:
        self.reports: Iterator[Report] = iter(reports)

    def run(self, program: Program, limits: Limits) -> Report:
        return next(self.reports)


def _told(*reports: Report) -> Report:
    return run_times(cast(Sandbox, Scripted(*reports)), PROGRAM, Limits(), len(reports))


@pytest.mark.parametrize(
    ("outcomes", "flaky"),
    [
        ((Outcome.PASSED,) * 3, ()),
        ((Outcome.PASSED, Outcome.FAILED, Outcome.PASSED), ("passed", "failed", "passed")),
    ],
)
def test_runs_that_disagree_are_flaky(outcomes: tuple[Outcome, ...], flaky: tuple[str, ...]) -> None:
    report = _told(*map(Report, outcomes))

    assert (report.outcome, report.flaky) == (outcomes[0], flaky)


def test_the_same_outcome_in_other_words_is_flaky_too() -> None:
    report = _told(Report(Outcome.PASSED, stdout="1"), Report(Outcome.PASSED, stdout="2"))

    assert report.flaky == ("passed", "passed") and "flaky" in canonical_text(report)


def test_times_differ_without_being_flaky() -> None:
    assert _told(Report(Outcome.PASSED, seconds=1), Report(Outcome.PASSED, seconds=2)).flaky == ()


def test_what_could_not_be_run_is_no_disagreement() -> None:
    report = _told(Report(Outcome.PASSED), Report(Outcome.UNAVAILABLE, detail="busy"))

    assert (report.outcome, report.flaky) == (Outcome.UNAVAILABLE, ())


def test_a_program_without_a_seed_is_told_to_be_flaky(sandbox: Sandbox) -> None:
    source = "import os\nprint(os.urandom(8).hex())\nassert f() == 1\n"
    report = run_times(sandbox, Program(PROGRAM.candidate, source), Limits())

    assert report.flaky == ("passed",) * 3
    assert run_times(sandbox, PROGRAM, Limits()).flaky == ()
