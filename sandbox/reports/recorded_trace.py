"""Puts together what the harness sent of a trace: steps, loops with their passes, and the calls into it.

A program may have written any of it: what does not fit together raises ValueError, TypeError or KeyError.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from sandbox.reports.texts import escape_unstorable_text, shorten_identifier
from sandbox.reports.trace import CandidateCall, TraceLoop, TracePass, TraceStep

_DEEPEST = 30

Record = tuple[Any, ...]
Item = TraceStep | TraceLoop


def candidate_calls_of(records: Iterable[Record]) -> tuple[CandidateCall, ...]:
    """The calls into the candidate that were told, in order."""
    calls: dict[int, CandidateCall] = {}
    for kind, *values in records:
        if kind == "call":
            number, function, line, arguments = values
            calls[int(number)] = CandidateCall(
                int(number), shorten_identifier(function), int(line), escape_unstorable_text(arguments)
            )
        elif kind == "returned":
            number, returned, raised = values
            calls[int(number)] = replace(
                calls[int(number)],
                returned=None if returned is None else escape_unstorable_text(returned),
                raised=None if raised is None else shorten_identifier(raised),
            )
    return tuple(calls.values())


def trace_of(records: Iterable[Record]) -> tuple[Item, ...]:
    """The trace, in the order in which the program's threads began its parts."""
    return _Retracing(records).items()


@dataclass
class _Growing:
    """A loop of which not all is known yet; `steps` belong to the last pass in `numbers`."""

    head: TraceLoop
    numbers: list[int] = field(default_factory=list)
    steps: "list[list[TraceStep | _Growing]]" = field(default_factory=list)
    passes: int = 1
    counts: dict[int, int] = field(default_factory=dict)
    changed: tuple[tuple[str, str], ...] = ()

    def items(self) -> Iterator[Item]:
        """The loop; or its steps alone, where they are a function's or one pass, and none is left out."""
        shown = tuple(
            TracePass(number, tuple(_finished(steps)), self.counts.get(number, 1))
            for number, steps in zip(self.numbers, self.steps, strict=True)
            if number <= self.passes
        )
        flat = self.head.repeated or (self.passes == 1 and not self.changed)
        if flat and len(shown) >= self.passes:
            for one in shown:
                yield from one.steps
        else:
            yield replace(self.head, passes=self.passes, shown=shown, changed=self.changed)


class _Retracing:
    def __init__(self, records: Iterable[Record]) -> None:
        self._root: list[TraceStep | _Growing] = []
        self._loops: dict[int, _Growing] = {}
        self._open: dict[int, list[_Growing]] = {}
        for kind, *values in records:
            if kind in _READERS:
                _READERS[kind](self, *values)

    def items(self) -> tuple[Item, ...]:
        return tuple(_finished(self._root))

    def step(self, lane: int, line: int, function: str, depth: int, changed: Any, call: int) -> None:
        one = TraceStep(
            int(line), shorten_identifier(function), int(depth), _pairs_of_changes(changed), call=int(call)
        )
        self._place(lane).append(one)

    def loop(self, lane: int, number: int, line: int, function: str, depth: int, repeated: bool) -> None:
        growing = _Growing(
            TraceLoop(int(line), shorten_identifier(function), int(depth), 1, repeated=bool(repeated))
        )
        waiting = self._open.setdefault(int(lane), [])
        if len(waiting) >= _DEEPEST:
            raise ValueError("loops are not nested so deep")
        self._place(lane).append(growing)
        waiting.append(growing)
        self._loops[int(number)] = growing

    def begin_pass(self, lane: int, number: int, which: int) -> None:
        growing = self._loops[int(number)]
        growing.numbers.append(int(which))
        growing.steps.append([])
        growing.passes = max(growing.passes, int(which))

    def more(self, lane: int, number: int, passes: int, counts: Any) -> None:
        growing = self._loops[int(number)]
        growing.passes, growing.counts = int(passes), {int(which): int(count) for which, count in counts}

    def done(self, lane: int, number: int, passes: int, counts: Any, changed: Any) -> None:
        self.more(lane, number, passes, counts)
        growing = self._open[int(lane)].pop()
        if growing is not self._loops[int(number)]:
            raise ValueError("loops end from the inside")
        growing.changed = _pairs_of_changes(changed)

    def folded(self, lane: int, line: int, function: str, depth: int, repeated: bool, passes: int) -> None:
        head = TraceLoop(int(line), shorten_identifier(function), int(depth), 1, repeated=bool(repeated))
        self._place(lane).append(_Growing(head, passes=int(passes)))

    def _place(self, lane: int) -> "list[TraceStep | _Growing]":
        waiting = self._open.get(int(lane))
        return waiting[-1].steps[-1] if waiting else self._root


_READERS: dict[str, Callable[..., None]] = {
    "step": _Retracing.step,
    "loop": _Retracing.loop,
    "pass": _Retracing.begin_pass,
    "more": _Retracing.more,
    "done": _Retracing.done,
    "folded": _Retracing.folded,
}


def _finished(items: "Iterable[TraceStep | _Growing]") -> Iterator[Item]:
    for item in items:
        if isinstance(item, TraceStep):
            yield item
        else:
            yield from item.items()


def _pairs_of_changes(changed: Iterable[Iterable[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((shorten_identifier(one), escape_unstorable_text(value)) for one, value in changed)
