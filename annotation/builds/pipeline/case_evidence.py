"""What the judges read of a test whose cases ran each by itself: cases by reading and kind, and its worth.

Everything here repeats: no times, no addresses. Values of a failed assertion come from the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sandbox.reports.canonical import canonical_text
from sandbox.reports.report import CaseOutcome, CaseResult, Outcome, Report, find_unproven_lines

LONGEST_TOLD: Final = 300
ORDINARY: Final = "ordinary"
LIKELIEST: Final = 1
"""The number of the likeliest reading: the one that the reference does."""
MIN_LIKELIHOOD: Final = 25
"""Percent of searchers from which on a reading is common: decision 50 has what other values gave."""


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """A case as its writer planned it; `reading` counts from 1."""

    name: str
    reading: int
    kind: str
    checks: str

    @classmethod
    def all_of(cls, rows: Iterable[Mapping[str, Any]]) -> tuple[PlannedCase, ...]:
        """From what a test program's row stores."""
        return tuple(cls(row["name"], row["reading"], row["kind"], row["checks"]) for row in rows)

    @property
    def decides(self) -> bool:
        """Whether a reference has to pass it, and a neighbour may fail it: ordinary, likeliest reading."""
        return self.kind == ORDINARY and self.reading == LIKELIEST


@dataclass(frozen=True, slots=True)
class TestWorth:
    """What the reference and the neighbour made of the deciding cases; None where one was not run."""

    __test__ = False  # no test class: keeps pytest from collecting it

    cases: int
    reference_held: int | None
    neighbour_held: int | None
    reference_failed: tuple[str, ...] = ()

    @property
    def reference_passes(self) -> bool:
        """Whether the writer's own reference holds every deciding case."""
        return self.reference_held is None or self.reference_held == self.cases

    @property
    def tells_neighbour(self) -> bool:
        """Whether a neighbour of the task fails at least one deciding case."""
        return self.neighbour_held is None or self.neighbour_held < self.cases

    @property
    def is_sound(self) -> bool:
        """Whether both hold."""
        return self.reference_passes and self.tells_neighbour


@dataclass(frozen=True, slots=True)
class Vote:
    """A label by the cases alone; of a match the reading that holds, and how many ordinary cases it has."""

    label: int
    reading: int = 0
    cases: int = 0

    def __str__(self) -> str:
        if not self.label:
            return "of no common reading do all ordinary cases hold"
        return f"all {self.cases} ordinary cases of reading {self.reading} hold"


def held_of(planned: Sequence[PlannedCase], report: Report) -> list[str]:
    """The names of the planned cases that held in the run."""
    held = {result.name for result in report.case_results if result.outcome is CaseOutcome.HELD}
    return [case.name for case in planned if case.name in held]


def weigh_test(
    planned: Sequence[PlannedCase], reference: Report | None, neighbour: Report | None
) -> TestWorth:
    """What a test is worth, by the runs of its reference and of a neighbour in the snippet's place.

    A case that the reference holds only by its own word says nothing of the test: it counts as not held. A
    neighbour's counts as held, since the test did not tell it apart.
    """
    deciding = [case for case in planned if case.decides]
    names = [case.name for case in deciding]
    passed = None if reference is None else _proven_of(deciding, reference)
    return TestWorth(
        cases=len(deciding),
        reference_held=None if passed is None else len(passed),
        neighbour_held=None if neighbour is None else len(held_of(deciding, neighbour)),
        reference_failed=() if passed is None else tuple(name for name in names if name not in passed),
    )


def _proven_of(planned: Sequence[PlannedCase], report: Report) -> list[str]:
    """The names of the planned cases that held, and not by the word of the code that was run alone."""
    if report.suspicious or report.outcome is Outcome.UNPROVEN:
        return []
    lines = set(find_unproven_lines(report.assertions))
    doubtful = {one.case for one in report.assertions if one.passed and one.line in lines}
    return [name for name in held_of(planned, report) if name not in doubtful]


def vote_of_cases(
    readings: Sequence[Mapping[str, Any]],
    planned: Sequence[PlannedCase],
    report: Report,
    worth: TestWorth | None,
) -> Vote | None:
    """What the cases say alone: a match where every ordinary case of a common reading holds.

    A reading is common if it is the likeliest, or if MIN_LIKELIHOOD of a hundred searchers mean it. None if
    the test is not sound or never touched the snippet, if its run cannot be relied on, or if what would be a
    match holds only by the snippet's own word: then it has no vote.
    """
    if not report.touched or (worth is not None and not worth.is_sound):
        return None
    if report.outcome is Outcome.UNPROVEN or report.suspicious:
        return None
    held, is_unproven = set(held_of(planned, report)), False
    for number, reading in enumerate(readings, 1):
        names = [case.name for case in planned if case.reading == number and case.kind == ORDINARY]
        is_common = number == LIKELIEST or reading["likelihood"] >= MIN_LIKELIHOOD
        if is_common and names and held.issuperset(names):
            if not find_unproven_lines(one for one in report.assertions if one.case in names):
                return Vote(1, number, len(names))
            is_unproven = True
    return None if is_unproven else Vote(0)


def format_numbered_readings(readings: Sequence[Mapping[str, Any]]) -> str:
    """The readings as the judges see them, one a line."""
    return "\n".join(
        f"{number}. ({reading['likelihood']} %) {reading['sense']}"
        for number, reading in enumerate(readings, 1)
    )


def evidence_of(
    planned: Sequence[PlannedCase], report: Report, worth: TestWorth | None, difference: str = ""
) -> str:
    """The whole report for the judges: how the cases went, then what the test itself is worth."""
    lines = [*case_lines(planned, report)]
    if worth is not None:
        lines += worth_lines(worth, difference)
    return "\n".join(lines)


def case_lines(planned: Sequence[PlannedCase], report: Report) -> Iterator[str]:
    """A summary by reading and kind, then the run: each case by its name, which says all three."""
    results = {result.name: result for result in report.case_results}
    yield f"held: {'; '.join(summary_of(planned, results))}"
    yield from canonical_text(report).splitlines()


def summary_of(planned: Sequence[PlannedCase], results: Mapping[str, CaseResult]) -> Iterator[str]:
    """`reading 1 ordinary 3 of 3`, and so on, in the order of the readings."""
    groups: dict[tuple[int, str], list[bool]] = {}
    for case in planned:
        result = results.get(case.name)
        has_held = result is not None and result.outcome is CaseOutcome.HELD
        groups.setdefault((case.reading, case.kind), []).append(has_held)
    in_order = sorted(groups, key=lambda group: (group[0], group[1] != ORDINARY))
    for reading, kind in in_order:
        held = groups[reading, kind]
        yield f"reading {reading} {kind} {sum(held)} of {len(held)}"


def worth_lines(worth: TestWorth, difference: str) -> list[str]:
    """What is known of the test itself."""
    lines = ["the test itself, by the ordinary cases of reading 1:"]
    if worth.reference_held is not None:
        lines.append(f"- its writer's reference holds {worth.reference_held} of {worth.cases}")
    if worth.neighbour_held is not None:
        what = f" ({difference})" if difference else ""
        lines.append(
            shorten_evidence_line(
                f"- a neighbour of the task{what} holds {worth.neighbour_held} of {worth.cases}"
            )
        )
    return lines


def shorten_evidence_line(text: str) -> str:
    """One line, not too long."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TOLD else f"{line[: LONGEST_TOLD - 1]}…"
