"""A trace as rows: calls, steps, and loops that open; a loop's rows lie inside of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from annotation.web.cases.code import build_line_anchor, truncate_code_text
from sandbox.reports.report import CandidateCall, Report, TraceLoop, TracePass, TraceStep
from sandbox.reports.trace import steps_of

MOST_STEPS = 250
LONGEST_VALUE = 500
STEPS_OF_AN_OPEN_LOOP = 12
MOST_NAMES = 60


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call into the candidate; the steps up to the next call belong to it. `id` is its anchor."""

    id: str
    number: int
    function: str
    arguments: str
    returned: str | None
    raised: str | None
    line: int
    href: str
    kind: str = "call"


@dataclass(frozen=True, slots=True)
class StepRow:
    """The candidate is about to execute `line`; `indent` is its call depth from 0, at most 8."""

    number: int
    line: int
    href: str
    function: str
    indent: int
    changed: tuple[tuple[str, str], ...]
    count: int
    failing: bool = False
    kind: str = "step"


@dataclass(frozen=True, slots=True)
class PassRows:
    """One pass of a loop; `alike` more took the same way and are not shown."""

    number: int
    alike: int
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class LoopRow:
    """A loop, or a function that was entered `passes` times in a row (`repeated`).

    `earlier` passes went as this loop had gone when it was executed before. `changed` are locals at its end.
    """

    line: int
    href: str
    function: str
    indent: int
    passes: int
    repeated: bool
    shown: tuple[PassRows, ...]
    earlier: int
    changed: tuple[tuple[str, str], ...]
    open: bool
    kind: str = "loop"


Row = CallRow | StepRow | LoopRow


@dataclass(frozen=True, slots=True)
class Trace:
    """The rows of a trace, the number of its steps, how many of them the rows leave out, the calls in it.

    `failing` is the step at which it went wrong (None: none is known); `names` are the variables that change.
    """

    rows: tuple[Row, ...]
    steps: int
    more: int
    calls: frozenset[int]
    failing: int | None = None
    names: tuple[str, ...] = ()

    @property
    def failing_shown(self) -> bool:
        return self.failing is not None and self.failing <= self.steps - self.more


def trace_rows(report: Report, program: str, candidate: str, most_steps: int | None = MOST_STEPS) -> Trace:
    """A report's trace where lines carry these prefixes; `most_steps` None shows all of it."""
    steps = list(steps_of(report.trace))
    failing = failing_step(report, steps)
    builder = _Builder(report, program, candidate, len(steps) if most_steps is None else most_steps, failing)
    rows = tuple(builder.rows(report.trace))
    more, names = len(steps) - builder.number, tuple(builder.names)[:MOST_NAMES]
    return Trace(rows, len(steps), more, frozenset(builder.calls), failing, names)


def failing_step(report: Report, steps: Sequence[TraceStep]) -> int | None:
    """The number, from 1, of the step at which it went wrong.

    That is the last one on the candidate's line that raised; else, where an assertion failed, the last one of
    the call that it checked. None where neither is known.
    """
    raised = (
        [frame.line for frame in report.raised.frames if frame.place == "candidate"] if report.raised else []
    )
    if raised:
        return _last(steps, lambda step: step.line == raised[-1])
    checked = next(
        (assertion.calls for assertion in report.assertions if not assertion.passed and assertion.calls), ()
    )
    return _last(steps, lambda step: step.call in checked)


def _last(steps: Sequence[TraceStep], wanted: Callable[[TraceStep], bool]) -> int | None:
    return next((number for number in range(len(steps), 0, -1) if wanted(steps[number - 1])), None)


class _Builder:
    def __init__(self, report: Report, program: str, candidate: str, most: int, failing: int | None) -> None:
        self._program, self._candidate, self._most, self._failing = program, candidate, most, failing
        self._calls = {call.number: call for call in report.calls}
        self.number, self.calls, self.names = 0, set[int](), dict[str, None]()

    def rows(self, items: Iterable[TraceStep | TraceLoop]) -> Iterator[Row]:
        for item in items:
            if self.number >= self._most:
                return
            yield from self._head(item)
            yield self._step(item) if isinstance(item, TraceStep) else self._loop(item)

    def _head(self, item: TraceStep | TraceLoop) -> Iterator[CallRow]:
        first = next(steps_of([item]), None)
        call = self._calls.pop(first.call, None) if first else None
        if call:
            self.calls.add(call.number)
            yield self._call(call)

    def _call(self, call: CandidateCall) -> CallRow:
        return CallRow(
            id=call_anchor(self._program, call.number),
            number=call.number,
            function=call.function,
            arguments=shorten_trace_value(call.arguments),
            returned=None if call.returned is None else shorten_trace_value(call.returned),
            raised=call.raised,
            line=call.line,
            href="#" + build_line_anchor(self._program, call.line) if call.line else "",
        )

    def _step(self, step: TraceStep) -> StepRow:
        self.number += 1
        return StepRow(
            number=self.number,
            line=step.line,
            href=self._href(step.line),
            function=step.function,
            indent=_indent(step.depth),
            changed=self._changed(step.changed),
            count=step.count,
            failing=self.number == self._failing,
        )

    def _loop(self, loop: TraceLoop) -> LoopRow:
        steps = sum(1 for _ in steps_of([loop]))
        shown = tuple(self._pass(lap) for lap in loop.shown)
        return LoopRow(
            line=loop.line,
            href=self._href(loop.line),
            function=loop.function,
            indent=_indent(loop.depth),
            passes=loop.passes,
            repeated=loop.repeated,
            shown=tuple(lap for lap in shown if lap.rows),
            earlier=max(0, loop.passes - sum(lap.count for lap in loop.shown)),
            changed=self._changed(loop.changed),
            open=0 < steps <= STEPS_OF_AN_OPEN_LOOP,
        )

    def _pass(self, lap: TracePass) -> PassRows:
        return PassRows(lap.number, lap.count - 1, tuple(self.rows(lap.steps)))

    def _changed(self, changed: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        self.names |= dict.fromkeys(name for name, _ in changed)
        return tuple((name, shorten_trace_value(value)) for name, value in changed)

    def _href(self, line: int) -> str:
        return "#" + build_line_anchor(self._candidate, line)


def call_anchor(program: str, number: int) -> str:
    """The id of a call's row, on a page where lines of the test program carry this prefix."""
    return f"{program}-call-{number}"


def times_by_line(items: Iterable[TraceStep | TraceLoop], factor: int = 1) -> Iterator[tuple[int, int]]:
    """(line, how often the trace says that it was executed), a line once for each step."""
    for item in items:
        if isinstance(item, TraceStep):
            yield item.line, item.count * factor
        else:
            for lap in item.shown:
                yield from times_by_line(lap.steps, factor * lap.count)


def shorten_trace_value(value: str, longest: int = LONGEST_VALUE) -> str:
    """A value capped for a table's cell, with what was left out said."""
    kept, left_out = truncate_code_text(value, longest)
    return f"{kept}… ({left_out:,} characters more)" if left_out else kept


def _indent(depth: int) -> int:
    return max(0, min(depth, 8))
