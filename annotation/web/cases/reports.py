"""A report as people read it: what happened, line by line, linked to the candidate and the test program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from annotation.web.cases.code import Notes, build_line_anchor, truncate_code_text
from annotation.web.cases.traces import (
    MOST_STEPS,
    Trace,
    call_anchor,
    shorten_trace_value,
    times_by_line,
    trace_rows,
)
from annotation.web.shared.words import OUTCOMES, Sign, format_duration
from sandbox.expression_call import Answer
from sandbox.reports.evidence import never_evaluated
from sandbox.reports.report import Assertion, Frame, Outcome, Report

MOST_ASSERTIONS = 200
MOST_OUTPUT = 8_000

HELD: Final = Sign("✓", "passed", "good")
BROKE: Final = Sign("✗", "failed", "bad")
RAISED: Final = Sign("!", "raised here", "bad")
CALLED: Final = Sign("↳", "on the way to the exception", "warn")

MEANINGS: Final[Mapping[Outcome, str]] = {
    Outcome.PASSED: "All assertions that ran passed.",
    Outcome.FAILED: "An assertion did not hold.",
    Outcome.ERRORED: "An exception stopped the test before its end.",
    Outcome.UNTESTED: "The run finished, but no assertion used the function, so it proves nothing.",
    Outcome.UNPROVEN: "Its assertions held, but only by the word of the function's own classes.",
    Outcome.NOT_APPLICABLE: "The test was written for another function; its arguments do not fit this one.",
    Outcome.TIMED_OUT: "It was stopped at the time limit.",
    Outcome.OUT_OF_MEMORY: "It was stopped at the memory limit.",
    Outcome.OUTPUT_OVERFLOW: "It was stopped because it printed too much.",
    Outcome.DEPENDENCY_REFUSED: "It did not run: a package that it needs could not be installed.",
    Outcome.UNAVAILABLE: "The sandbox could not run it. This says nothing about the code.",
}


@dataclass(frozen=True, slots=True)
class AssertionView:
    """One assertion of the test program, as evaluated; `href` leads to its line.

    `calls` are the numbers of the candidate's calls that it checked, with where the trace shows them.
    `own_word`: it held by what a class of the candidate says of itself.
    """

    sign: Sign
    line: int
    href: str
    source: str
    left: str | None
    right: str | None
    names: tuple[str, str]
    difference: str
    touched: bool
    own_word: bool
    count: int
    calls: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class AssertionLine:
    """An assertion of the test program that the run never came to."""

    line: int
    href: str
    source: str


@dataclass(frozen=True, slots=True)
class FrameView:
    """One level of a traceback; frames inside libraries lead nowhere. `count` folds a recursion."""

    place: str
    line: int
    href: str
    function: str
    source: str
    count: int


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report with links: `program` and `candidate` are the anchors' prefixes (`t`, `c`)."""

    sign: Sign
    meaning: str
    detail: str
    warnings: tuple[str, ...]
    passed: int
    failed: int
    assertions: tuple[AssertionView, ...]
    more_assertions: int
    exception: str
    frames: tuple[FrameView, ...]
    cases: tuple[dict[str, Any], ...]
    trace: Trace
    trace_cut: bool
    outputs: tuple[dict[str, Any], ...]
    printed: tuple[tuple[str, str], ...]
    missed: tuple[tuple[int, str], ...]
    reached_all: bool
    took: str
    backend: str

    @property
    def broken(self) -> tuple[AssertionView, ...]:
        """The assertions that did not hold."""
        return tuple(assertion for assertion in self.assertions if assertion.sign == BROKE)

    @property
    def is_plain(self) -> bool:
        """Whether its assertions tell all that there is to see."""
        return bool(self.assertions) and not (self.warnings or self.exception or self.detail)


def report_view(
    report: Report, program: str = "t", candidate: str = "c", most_steps: int | None = MOST_STEPS
) -> ReportView:
    """`report` for the page on which lines carry these prefixes; `most_steps` None shows the whole trace."""
    trace = trace_rows(report, program, candidate, most_steps)
    passed = sum(assertion.passed for assertion in report.assertions)
    says_nothing = report.outcome is Outcome.PASSED and not report.touched
    return ReportView(
        sign=OUTCOMES[report.outcome],
        meaning=MEANINGS[Outcome.UNTESTED if says_nothing else report.outcome],
        detail=report.detail,
        warnings=tuple(warnings_of(report)),
        passed=passed,
        failed=len(report.assertions) - passed,
        assertions=tuple(
            assertion_view(assertion, program, trace.calls)
            for assertion in report.assertions[:MOST_ASSERTIONS]
        ),
        more_assertions=max(0, len(report.assertions) - MOST_ASSERTIONS),
        exception=exception_of(report),
        frames=tuple(frame_views(report, {"program": program, "candidate": candidate})),
        cases=tuple(
            {"row": case, "name": shorten_trace_value(case.name), "sign": BROKE if case.failed else HELD}
            for case in report.cases
        ),
        trace=trace,
        trace_cut=report.trace_truncated,
        outputs=tuple(outputs_of(report)),
        printed=printed_of(report),
        missed=tuple((line, "#" + build_line_anchor(candidate, line)) for line in report.lines_missed),
        reached_all=bool(report.lines_reached) and not report.lines_missed,
        took=format_duration(report.seconds),
        backend=report.backend,
    )


def warnings_of(report: Report) -> Iterator[str]:
    """What a reader must know before trusting the outcome."""
    if report.redefined:
        yield "The test program redefines the function, so it may not test the function at all."
    if report.asserted and not report.touched:
        yield "No assertion uses the function."
    if report.flaky:
        yield f"It is flaky: its runs disagree ({', '.join(report.flaky)})."
    if report.missing_module:
        yield f"The module {report.missing_module} is missing."
    yield from (f"Suspicious: {sign}" for sign in report.suspicious)


def assertion_view(assertion: Assertion, program: str, shown: frozenset[int]) -> AssertionView:
    """`shown` are the numbers of the calls that the trace shows."""
    inequality = assertion.inequality
    left, right, names = assertion.left, assertion.right, ("left", "right")
    if inequality is not None:
        left, right, names = inequality.got, inequality.expected, ("got", "expected")
    return AssertionView(
        sign=HELD if assertion.passed else BROKE,
        line=assertion.line,
        href="#" + build_line_anchor(program, assertion.line),
        source=shorten_trace_value(assertion.source),
        left=None if left is None else shorten_trace_value(left),
        right=None if right is None else shorten_trace_value(right),
        names=names,
        difference=inequality.difference if inequality else "",
        touched=assertion.touched,
        own_word=bool(assertion.own_word),
        count=assertion.count,
        calls=tuple(
            (number, "#" + call_anchor(program, number) if number in shown else "")
            for number in assertion.calls
        ),
    )


def not_reached(source: str, report: Report, program: str = "t") -> tuple[AssertionLine, ...]:
    """The assertions in the program's source that the report knows nothing of, in order of their lines."""
    return tuple(
        AssertionLine(line, "#" + build_line_anchor(program, line), shorten_trace_value(text))
        for line, text in never_evaluated(source, report)[:MOST_ASSERTIONS]
    )


def exception_of(report: Report | Answer) -> str:
    if report.raised is None:
        return ""
    return shorten_trace_value(
        f"{report.raised.type}: {report.raised.message}" if report.raised.message else report.raised.type
    )


def frame_views(report: Report | Answer, prefixes: Mapping[str, str]) -> Iterator[FrameView]:
    for frame, alike in groupby(report.raised.frames if report.raised else ()):
        prefix = prefixes.get(frame.place)
        href = "#" + build_line_anchor(prefix, frame.line) if prefix else ""
        count = sum(1 for _ in alike)
        yield FrameView(
            frame.place, frame.line, href, frame.function, shorten_trace_value(frame.source), count
        )


def outputs_of(report: Report | Answer) -> Iterator[dict[str, Any]]:
    """What was printed; `cut` says that more was."""
    for name, text in (("standard output", report.stdout), ("standard error", report.stderr)):
        if text:
            kept, left_out = truncate_code_text(text, MOST_OUTPUT)
            yield {"name": name, "text": kept, "cut": bool(left_out) or report.output_truncated}


def printed_of(report: Report) -> tuple[tuple[str, str], ...]:
    """Both outputs in the order in which they were printed, where that is known; cut as `outputs_of` cuts."""
    if not report.turns or not (report.stdout and report.stderr):
        return ()
    parts, room = [], MOST_OUTPUT
    for name, text in report.printed():
        kept, _ = truncate_code_text(text, room)
        parts.append((name, kept))
        room -= len(kept)
        if room <= 0:
            break
    return tuple(parts)


def program_notes(report: Report) -> Notes:
    """What the report says about the lines of the test program."""
    marks: dict[int, tuple[Sign, ...]] = {}
    for assertion in report.assertions:  # any evaluation that failed marks the line
        if marks.get(assertion.line) != (BROKE,):
            marks[assertion.line] = (HELD if assertion.passed else BROKE,)
    add_frames(marks, report, "program")
    return Notes(marks, {})


def candidate_notes(report: Report) -> Notes:
    """What the report says about the lines of the candidate: how often traced, never reached, raising."""
    marks: dict[int, tuple[Sign, ...]] = {}
    add_frames(marks, report, "candidate")
    times: Counter[int] = Counter()
    for line, count in times_by_line(report.trace):
        times[line] += count
    return Notes(marks, times, frozenset(report.lines_missed))


def add_frames(marks: dict[int, tuple[Sign, ...]], report: Report, place: str) -> None:
    """Mark the lines of a traceback; where an assertion failed, that mark says it already."""
    frames: tuple[Frame, ...] = report.raised.frames if report.raised else ()
    for frame in frames:
        there = marks.get(frame.line, ())
        if frame.place == place and BROKE not in there:
            mark = RAISED if frame is frames[-1] else CALLED
            marks[frame.line] = (*(sign for sign in there if sign not in {CALLED, RAISED}), mark)
