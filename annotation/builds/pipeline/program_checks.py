"""A test is tested: its program runs with the writer's reference and with a neighbour in the snippet's place.

The reference has to pass every ordinary case of the likeliest reading, the neighbour has to fail one.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from annotation.builds.pipeline import verdicts
from annotation.builds.pipeline.case_evidence import TestWorth, worth_lines
from annotation.builds.pipeline.execution import SandboxProvider, execute_program
from annotation.models import Case, Execution
from sandbox.program import Limits
from sandbox.reports.canonical import canonical_text

UNRUN: Final[Mapping[str, Any]] = MappingProxyType(
    {"fix_rounds": 0, "dependencies": [], "missing_module": ""}
)
"""Of a program that has not run yet: another one may need other modules."""
LONGEST_NEIGHBOUR: Final = 4000


def run_checks(case: Case, provider: SandboxProvider, limits: Limits) -> dict[str, Any]:
    """Run what the case's design checks a program with; returns the columns of the case that keep it.

    Raises SandboxUnavailable.
    """
    program = verdicts.program_of(case)
    if not program.test_cases:
        return {}
    neighbour = verdicts.neighbour_of(case)
    codes = {
        "reference_run": program.reference.text if program.reference else "",
        "neighbour_run": neighbour.code if neighbour else "",
    }
    for column, code in codes.items():
        setattr(case, column, run_in_place(case, code, provider, limits) if code else None)
    return {f"{column}_id": run.pk if (run := getattr(case, column)) else None for column in codes}


def run_in_place(case: Case, code: str, provider: SandboxProvider, limits: Limits) -> Execution:
    """The execution of the case's program with `code` as its candidate."""
    program = verdicts.program_of(case)
    return execute_program(code, program, case.dependencies, provider, limits)[0]


def describe_program_refusal(case: Case, worth: TestWorth) -> str:
    """Why a program goes back to its writer."""
    if not worth.reference_passes:
        assert case.reference_run is not None, "a reference that fails has run"
        report = case.reference_run.whole_report()
        failed = ", ".join(worth.reference_failed)
        words = f"Your reference does not hold in {failed}, ordinary cases of the first reading."
        return f"{words}\n{canonical_text(report)}"
    neighbour = verdicts.neighbour_of(case)
    assert neighbour is not None, "a neighbour that passes has run"
    return (
        "Every ordinary case of the first reading holds for this code too, which does not do the task "
        f"({neighbour.difference}):\n{neighbour.code[:LONGEST_NEIGHBOUR]}"
    )


def worth_in_words(case: Case, worth: TestWorth) -> str:
    """What a test is worth, as its case's page says it."""
    neighbour = verdicts.neighbour_of(case)
    return ". ".join(worth_lines(worth, neighbour.difference if neighbour else "")[1:]).replace("- ", "")
