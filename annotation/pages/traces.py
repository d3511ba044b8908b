"""A trace as rows: calls, steps, and loops that open; a loop's rows lie inside of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from annotation.pages.code import anchor, beginning
from sandbox.report import CandidateCall, Report, TraceLoop, TracePass, TraceStep
from sandbox.trace import steps_of

MOST_STEPS = 250
LONGEST_VALUE = 500
STEPS_OF_AN_OPEN_LOOP = 12


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
    """The rows of a trace, the number of its steps, how many of them the rows leave out, the calls in it."""

    rows: tuple[Row, ...]
    steps: int
    more: int
    calls: frozenset[int]


def trace_rows(report: Report, program: str, candidate: str, most_steps: int | None = MOST_STEPS) -> Trace:
    """A report's trace where lines carry these prefixes; `most_steps` None shows all of it."""
    total = sum(1 for _ in steps_of(report.trace))
    builder = _Builder(report, program, candidate, total if most_steps is None else most_steps)
    rows = tuple(builder.rows(report.trace))
    return Trace(rows, total, total - builder.number, frozenset(builder.calls))


class _Builder:
    def __init__(self, report: Report, program: str, candidate: str, most: int) -> None:
        self._program, self._candidate, self._most = program, candidate, most
        self._calls = {call.number: call for call in report.calls}
        self.number, self.calls = 0, set[int]()

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
            arguments=short(call.arguments),
            returned=None if call.returned is None else short(call.returned),
            raised=call.raised,
            line=call.line,
            href="#" + anchor(self._program, call.line) if call.line else "",
        )

    def _step(self, step: TraceStep) -> StepRow:
        self.number += 1
        return StepRow(
            number=self.number,
            line=step.line,
            href=self._href(step.line),
            function=step.function,
            indent=_indent(step.depth),
            changed=_changed(step.changed),
            count=step.count,
        )

    def _loop(self, loop: TraceLoop) -> LoopRow:
        steps = sum(1 for _ in steps_of([loop]))
        shown = tuple(self._pass(one) for one in loop.shown)
        return LoopRow(
            line=loop.line,
            href=self._href(loop.line),
            function=loop.function,
            indent=_indent(loop.depth),
            passes=loop.passes,
            repeated=loop.repeated,
            shown=tuple(one for one in shown if one.rows),
            earlier=max(0, loop.passes - sum(one.count for one in loop.shown)),
            changed=_changed(loop.changed),
            open=0 < steps <= STEPS_OF_AN_OPEN_LOOP,
        )

    def _pass(self, one: TracePass) -> PassRows:
        return PassRows(one.number, one.count - 1, tuple(self.rows(one.steps)))

    def _href(self, line: int) -> str:
        return "#" + anchor(self._candidate, line)


def call_anchor(program: str, number: int) -> str:
    """The id of a call's row, on a page where lines of the test program carry this prefix."""
    return f"{program}-call-{number}"


def times_by_line(items: Iterable[TraceStep | TraceLoop], factor: int = 1) -> Iterator[tuple[int, int]]:
    """(line, how often the trace says that it was executed), a line once for each step."""
    for item in items:
        if isinstance(item, TraceStep):
            yield item.line, item.count * factor
        else:
            for one in item.shown:
                yield from times_by_line(one.steps, factor * one.count)


def short(value: str) -> str:
    """A value capped for a table's cell, with what was left out said."""
    kept, left_out = beginning(value, LONGEST_VALUE)
    return f"{kept}… ({left_out:,} characters more)" if left_out else kept


def _changed(changed: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((name, short(value)) for name, value in changed)


def _indent(depth: int) -> int:
    return max(0, min(depth, 8))
