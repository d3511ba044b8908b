"""The meanings of a query that a test checks: that of an assertion, and the one on which a verdict rests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.agents.test_writer import CASE_NAME
from annotation.builds.pipeline.case_evidence import LIKELIEST, PlannedCase, vote_of_cases
from annotation.models import TestProgram
from sandbox.reports.report import Report


@dataclass(frozen=True, slots=True)
class Meaning:
    """One of several meanings; `likelihood`: so many of a hundred people who search mean it."""

    number: int
    sense: str
    likelihood: int

    @property
    def name(self) -> str:
        return "main meaning" if self.number == LIKELIEST else f"meaning {self.number}"

    @property
    def is_main(self) -> bool:
        return self.number == LIKELIEST


@dataclass(frozen=True, slots=True)
class DecisiveMeaning:
    """The meaning on which a verdict rests. `passed`: all ordinary cases of it did."""

    meaning: Meaning
    passed: bool


def list_meanings(program: TestProgram | None) -> tuple[Meaning, ...]:
    """Those of a program, the likeliest first; empty where there is only one."""
    readings = program.readings if program else []
    if len(readings) < 2:
        return ()
    return tuple(Meaning(number, row["sense"], row["likelihood"]) for number, row in enumerate(readings, 1))


def find_meaning(meanings: Sequence[Meaning], case: str) -> Meaning | None:
    """The meaning that a case of a test is of, which its name says; None where there is only one."""
    found = CASE_NAME.fullmatch(case)
    number = int(found["reading"]) if found else 0
    return next((meaning for meaning in meanings if meaning.number == number), None)


def describe_test_case(name: str) -> str:
    """What a case of a test tries, in words."""
    found = CASE_NAME.fullmatch(name)
    return found["checks"].replace("_", " ") if found else name


def find_decisive_meaning(
    program: TestProgram | None, report: Report | None, label: int | None
) -> DecisiveMeaning | None:
    """The meaning that passed, of a match; else the likeliest. None where there is one, or no verdict."""
    meanings = list_meanings(program)
    if not meanings or program is None or report is None or label is None:
        return None
    vote = vote_of_cases(program.readings, PlannedCase.all_of(program.test_cases), report, None)
    if vote is None or not vote.label or not label:
        return DecisiveMeaning(meanings[0], passed=False)
    return DecisiveMeaning(meanings[vote.reading - 1], passed=True)
