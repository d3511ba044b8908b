"""Honest programs get the right verdict: those of honest/, each with a right and a wrong candidate.

A file there holds programs of one style. `# == name` begins one, with the right candidate; `# -- wrong` the
wrong one, `# -- program` the program. The wrong candidate fails, or gives what stands after the name.
"""

import os
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.program import Limits, Program
from sandbox.protocol import Sandbox
from sandbox.reports.canonical import canonical_text
from sandbox.reports.report import Outcome, Report
from tests.sizes import WHOLE

FOLDER = Path(__file__).parent / "honest"
PROGRAMS = 250
# The harness judges, the same in every sandbox: a usual run takes all programs where a sandbox starts
# quickly, and each fourth one elsewhere.
EACH = {"forked": 1, "bubblewrap": 1 if WHOLE else 4, "docker": 1 if WHOLE else 4}
_BEGINNING = re.compile(r"^# == (\w+)(?:: (\w+))?\n", re.MULTILINE)
_PART = re.compile(r"^# -- (?:wrong|program)\n", re.MULTILINE)


@dataclass(frozen=True)
class Honest:
    """A program with two candidates, and how the wrong one ends."""

    name: str
    right: str
    wrong: str
    source: str
    ends: Outcome

    def faults(self, sandbox: Sandbox) -> list[str]:
        """The canonical texts of what was judged wrongly."""
        limits = Limits(seconds=20)
        right = sandbox.run(Program(self.right, self.source), limits)
        wrong = sandbox.run(Program(self.wrong, self.source), limits)
        return [
            f"{self.name}, {candidate} candidate: {report.detail}\n{canonical_text(report)}"
            for candidate, report, expected in (("right", right, Outcome.PASSED), ("wrong", wrong, self.ends))
            if not is_judged(report, expected)
        ]


def is_judged(report: Report, expected: Outcome) -> bool:
    return report.outcome is expected and not report.suspicious and not report.redefined


def programs() -> Iterator[Honest]:
    """All of them, file by file."""
    for path in sorted(FOLDER.glob("*.py")):
        _, *rest = _BEGINNING.split(path.read_text("utf-8"))
        for name, ends, text in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
            right, wrong, source = _PART.split(text)
            yield Honest(f"{path.stem}/{name}", right, wrong, source, Outcome(ends or Outcome.FAILED))


@pytest.mark.parametrize("kind", EACH)
def test_honest_programs_are_judged_rightly(kind: str, request: pytest.FixtureRequest) -> None:
    sandbox: Sandbox = request.getfixturevalue(kind)
    chosen = [*programs()][:: EACH[kind]]
    began = time.monotonic()
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        faults = [
            one for found in threads.map(lambda honest: honest.faults(sandbox), chosen) for one in found
        ]
    print(f"{len(chosen)} programs, {kind}, in {time.monotonic() - began:.0f} s")
    assert not faults, "\n\n".join(faults)


def test_there_are_enough_honest_programs_each_under_a_name_of_its_own() -> None:
    names = [honest.name for honest in programs()]
    assert len(names) == len(set(names)) >= PROGRAMS
