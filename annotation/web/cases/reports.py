"""A report as people read it: what happened, line by line, linked to the candidate and the test program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from annotation.web.cases.code import Notes, build_line_anchor, truncate_code_text
from annotation.web.cases.meanings import Meaning, describe_test_case, find_meaning
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
from sandbox.reports.report import Assertion, CaseOutcome, CaseResult, Frame, Outcome, Raised, Report

MOST_ASSERTIONS = 200
MOST_OUTPUT = 8_000

HELD: Final = Sign("✓", "passed", "good")
BROKE: Final = Sign("✗", "failed", "bad")
RAISED: Final = Sign("!", "raised here", "bad")
CALLED: Final = Sign("↳", "on the way to the exception", "warn")

STOPPED: Final = Sign("!", "stopped", "bad")
CASE_SIGNS: Final[Mapping[CaseOutcome, Sign]] = {
    CaseOutcome.HELD: HELD,
    CaseOutcome.FAILED: BROKE,
    CaseOutcome.NOT_RUN: Sign("∅", "not run"),
    CaseOutcome.EMPTY: Sign("–", "checked nothing"),
}
"""Of a case that ran alone; all others were stopped."""
ENDS: Final[Mapping[CaseOutcome, str]] = {
    CaseOutcome.TIMED_OUT: "It was stopped at the time limit.",
    CaseOutcome.KILLED: "Its process ended early.",
}

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
    `own_word`: it held by what a class of the candidate says of itself. `message` is what it says of its
    failure; `meaning` is there where the test checks several.
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
    message: str = ""
    meaning: Meaning | None = None


@dataclass(frozen=True, slots=True)
class CaseError:
    """A case of the test that was stopped: what it tries, why, and the line where, if that is on the page."""

    name: str
    exception: str
    meaning: Meaning | None
    frame: FrameView | None


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
    case_errors: tuple[CaseError, ...]
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
        """The assertions that did not hold, those of the likeliest meaning first."""
        broken = (assertion for assertion in self.assertions if assertion.sign == BROKE)
        return tuple(sorted(broken, key=number_meaning))

    @property
    def is_plain(self) -> bool:
        """Whether what is shown first, or its assertions, tell all that there is to see."""
        is_told = self.case_errors or not (self.exception or self.detail)
        return bool(self.assertions and is_told) and not self.warnings


def report_view(
    report: Report,
    program: str = "t",
    candidate: str = "c",
    most_steps: int | None = MOST_STEPS,
    meanings: Sequence[Meaning] = (),
) -> ReportView:
    """`report` for the page on which lines carry these prefixes; `most_steps` None shows the whole trace.

    `meanings`: those of the test, where it checks several.
    """
    prefixes = {"program": program, "candidate": candidate}
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
        assertions=tuple(list_assertions(report, program, trace, meanings)),
        more_assertions=max(0, len(report.assertions) - MOST_ASSERTIONS),
        exception=exception_of(report),
        frames=tuple(frame_views(report, prefixes)),
        cases=tuple(case_rows(report)),
        case_errors=tuple(sorted(list_case_errors(report, prefixes, meanings), key=number_meaning)),
        trace=trace,
        trace_cut=report.trace_truncated,
        outputs=tuple(outputs_of(report)),
        printed=printed_of(report),
        missed=tuple((line, "#" + build_line_anchor(candidate, line)) for line in report.lines_missed),
        reached_all=bool(report.lines_reached) and not report.lines_missed,
        took=format_duration(report.seconds),
        backend=report.backend,
    )


def list_assertions(
    report: Report, program: str, trace: Trace, meanings: Sequence[Meaning]
) -> Iterator[AssertionView]:
    """The first assertions, a failed one with its message."""
    messages = map_messages(report)
    for assertion in report.assertions[:MOST_ASSERTIONS]:
        yield replace(
            assertion_view(assertion, program, trace.calls),
            message="" if assertion.passed else messages.get((assertion.case, assertion.line), ""),
            meaning=find_meaning(meanings, assertion.case),
        )


def number_meaning(told: AssertionView | CaseError) -> int:
    """The place in the order of meanings; first where there is only one."""
    return told.meaning.number if told.meaning else 0


def map_messages(report: Report) -> dict[tuple[str, int], str]:
    """What assertions say of their failure, by case and line of the program."""
    raised = [("", report.raised), *((case.name, case.raised) for case in report.case_results)]
    return {
        (case, line): shorten_trace_value(found.message)
        for case, found in raised
        if found and found.type == "AssertionError" and found.message
        for line in program_lines(found)
    }


def program_lines(raised: Raised) -> list[int]:
    """The line of the program in which an exception was raised; none where the candidate raised it."""
    last = raised.frames[-1:]
    return [frame.line for frame in last if frame.place == "program"]


def case_rows(report: Report) -> Iterator[dict[str, Any]]:
    """The cases of the test with how each ended: those that ran alone, else those that assertions name."""
    for case in report.case_results or report.cases:
        ended = case.outcome if isinstance(case, CaseResult) else None
        sign = CASE_SIGNS.get(ended, STOPPED) if ended else BROKE if case.failed else HELD
        yield {"row": case, "name": shorten_trace_value(case.name), "sign": sign}


def list_case_errors(
    report: Report, prefixes: Mapping[str, str], meanings: Sequence[Meaning]
) -> Iterator[CaseError]:
    """The cases that an exception, a limit or their own end stopped."""
    for case in report.case_results:
        if case.outcome in CASE_SIGNS:
            continue
        frames = list(frame_views(case, prefixes))
        yield CaseError(
            name=shorten_trace_value(describe_test_case(case.name)),
            exception=exception_of(case) or ENDS.get(case.outcome, ""),
            meaning=find_meaning(meanings, case.name),
            frame=next((frame for frame in reversed(frames) if frame.href), None),
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


def exception_of(report: Report | Answer | CaseResult) -> str:
    if report.raised is None:
        return ""
    return shorten_trace_value(
        f"{report.raised.type}: {report.raised.message}" if report.raised.message else report.raised.type
    )


def frame_views(report: Report | Answer | CaseResult, prefixes: Mapping[str, str]) -> Iterator[FrameView]:
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
