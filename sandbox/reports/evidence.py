"""What the arbiter reads of a run: its canonical text, which way it took, and what was never tested.

No values beside those of the assertions: among locals and results are clocks and random numbers, and two runs
that mean the same would read differently.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from sandbox.candidate.syntax import UNREADABLE, parse_python_source
from sandbox.candidate.tree_nodes import walk_tree_nodes
from sandbox.reports.canonical import canonical_lines, is_cut_off
from sandbox.reports.report import Report
from sandbox.reports.trace import TraceLoop, TraceStep

_MOST_SHOWN, _LONGEST_SOURCE = 40, 300


def evidence_text(report: Report, program: str) -> str:
    """What the arbiter reads of a run of the test program, whose source is `program`."""
    return "\n".join(_evidence_lines(report, program))


def _evidence_lines(report: Report, program: str) -> Iterator[str]:
    yield from canonical_lines(report)
    # An ending from outside comes at a moment that no two runs share.
    if is_cut_off(report):
        return
    yield from _trace_lines(report)
    never = never_evaluated(program, report)
    if never:
        yield f"assertions of the program that were never evaluated: {len(never)}"
        shown = (f"line {line}: {' '.join(source.splitlines())[:_LONGEST_SOURCE]}" for line, source in never)
        yield from _some(shown, len(never))


def never_evaluated(source: str, report: Report) -> tuple[tuple[int, str], ...]:
    """(line, its text) of each assertion in the program of which the report knows nothing, in order."""
    if not report.asserted and not report.ran:
        return ()
    evaluated = {assertion.line for assertion in report.assertions}
    try:
        lines = {line for node in walk_tree_nodes(parse_python_source(source)) if (line := _asserting(node))}
    except UNREADABLE:
        return ()
    text = source.split("\n")
    return tuple((line, text[line - 1].strip()) for line in sorted(lines - evaluated) if line <= len(text))


def _asserting(node: ast.AST) -> int:
    """The line of `assert …`, or of a call such as `self.assertEqual(…)`; 0 of anything else."""
    if isinstance(node, ast.Assert):
        return node.lineno
    called = node.func if isinstance(node, ast.Call) else None
    return called.lineno if isinstance(called, ast.Attribute) and called.attr.startswith("assert") else 0


def _trace_lines(report: Report) -> Iterator[str]:
    if report.trace_truncated or not report.trace:
        return
    way = _Way()
    way.add(report.trace)
    told = [way.said(line) for line in sorted({*report.lines_reached, *way.times})]
    spans = [_span(list(alike)) for _, alike in groupby(enumerate(told), lambda one: _run(*one))]
    yield "candidate lines that ran, and how often:"
    yield from _some(spans, len(spans))
    loops = [
        f"loop at line {line}, where it went round more than once: {way.passes(line)} passes"
        for line in sorted(way.loops)
    ]
    yield from _some(loops, len(loops))
    if report.calls_made:
        raised = Counter(call.raised for call in report.calls if call.raised)
        ends = "".join(f", {count} raised {name}" for name, count in sorted(raised.items()))
        yield f"calls of the candidate by the program: {report.calls_made}{ends}"


@dataclass
class _Way:
    """How often each line ran, and the passes by a loop's line.

    Not every pass is stored: the times of lines that are `inside` a `folded` loop are a lower bound.
    """

    times: Counter[int] = field(default_factory=Counter)
    loops: Counter[int] = field(default_factory=Counter)
    inside: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    folded: set[int] = field(default_factory=set)

    def add(
        self, items: Iterable[TraceStep | TraceLoop], factor: int = 1, within: tuple[int, ...] = ()
    ) -> None:
        for item in items:
            if isinstance(item, TraceLoop):
                self._add_loop(item, factor, (*within, item.line))
                continue
            self.times[item.line] += item.count * factor
            for loop in within:
                self.inside[loop].add(item.line)

    def _add_loop(self, loop: TraceLoop, factor: int, within: tuple[int, ...]) -> None:
        # Of those that went round once, some are stored as their steps alone.
        if not loop.repeated and loop.passes > 1:
            self.loops[loop.line] += loop.passes * factor
        if sum(one.count for one in loop.shown) < loop.passes:
            self.folded.add(loop.line)
        for one in loop.shown:
            self.add(one.steps, factor * one.count, within)

    def passes(self, loop: int) -> str:
        outer = (within for within in self.folded if within != loop)
        return (
            f"{self.loops[loop]}{' or more' if any(loop in self.inside[within] for within in outer) else ''}"
        )

    def said(self, line: int) -> tuple[int, str]:
        times = self.times[line]
        more = " or more" if any(line in self.inside[loop] for loop in self.folded) else ""
        return line, f" ({times}{more})" if times else ""


def _run(place: int, told: tuple[int, str]) -> tuple[int, str]:
    """The same for neighbouring lines that ran equally often."""
    line, said = told
    return line - place, said


def _span(alike: list[tuple[int, tuple[int, str]]]) -> str:
    (_, (first, said)), (_, (last, _)) = alike[0], alike[-1]
    return f"{first}{said}" if first == last else f"{first}-{last}{said}"


def _some(lines: Iterable[str], count: int) -> Iterator[str]:
    yield from (f"  {line}" for _, line in zip(range(_MOST_SHOWN), lines, strict=False))
    if count > _MOST_SHOWN:
        yield f"  and {count - _MOST_SHOWN} more"
