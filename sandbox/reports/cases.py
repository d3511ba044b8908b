"""What the harness recorded of each case, and all cases put together as if one process had run them.

Each case is a fork of the same process, so what they number and count begins for all at the same place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from sandbox.reports.records import NO_END, End, Record, assertions_of, has_failed, raised_of
from sandbox.reports.report import Assertion, CaseOutcome, CaseResult
from sandbox.reports.texts import shorten_identifier

_OF_CASES = ("in", "case", "over")
_STDOUT, _STDERR = 1, 2
# Loops and threads of each case, beside those of the others.
_STRIDE = 1 << 32


@dataclass(frozen=True, slots=True)
class CaseRun:
    """The records of one case; `how` it ended as its parent saw it, empty where that did not see it.

    Calls that it made have numbers which are `shift` too low for the whole run.
    """

    name: str
    begun: bool = False
    how: str = ""
    records: tuple[Record, ...] = ()
    shift: int = 0

    def of(self, kind: str) -> list[Record]:
        """The values of its records of one kind."""
        return [record[1:] for record in self.records if record[0] == kind]

    @property
    def base(self) -> Record:
        """When it was forked: calls made, bytes printed to each output."""
        return next(iter(self.of("base")), (0, 0, 0))

    @property
    def end(self) -> End | None:
        """What it said of its end; None where it said nothing."""
        return next(iter(self.of("end")), None)

    @property
    def made(self) -> int:
        """How many calls of the candidate it made."""
        return max(_made(self.records, self.end) - int(self.base[0]), 0)

    @property
    def assertions(self) -> tuple[Assertion, ...]:
        """What it evaluated."""
        found = assertions_of(self.of("assertion"), self.end[1] if self.end else ())
        return tuple(
            replace(
                assertion, case=shorten_identifier(self.name), calls=tuple(map(self.number, assertion.calls))
            )
            for assertion in found
        )

    def number(self, call: int) -> int:
        """A call's number in the whole run."""
        return int(call) + self.shift if int(call) > int(self.base[0]) else int(call)

    def result(self, stopped: str) -> CaseResult:
        """How it ended; `stopped` says why the whole run was ended from outside."""
        assertions, ending = self.assertions, (self.end or NO_END)[0]
        failed = sum(assertion.count for assertion in assertions if not assertion.passed)
        outcome = self._outcome(stopped, bool(failed), bool(assertions))
        return CaseResult(
            name=shorten_identifier(self.name),
            outcome=outcome,
            assertions=sum(assertion.count for assertion in assertions),
            failed=failed,
            touched=any(assertion.touched for assertion in assertions),
            raised=raised_of(ending) if outcome in (CaseOutcome.FAILED, CaseOutcome.CRASHED) else None,
        )

    def missing(self) -> str | None:
        """The module for want of which it ended."""
        ending = (self.end or NO_END)[0]
        return (
            None
            if ending is None or ending["missing"] is None
            else shorten_identifier(str(ending["missing"]))
        )

    def _outcome(self, stopped: str, failed: bool, asserted: bool) -> CaseOutcome:
        if not self.begun:
            return CaseOutcome.NOT_RUN
        if self.how == "timed_out" or (not self.how and stopped == "deadline"):
            return CaseOutcome.TIMED_OUT
        if self.how != "ended" or self.end is None:
            return CaseOutcome.KILLED
        ending = self.end[0]
        if ending is not None:
            return CaseOutcome.FAILED if has_failed(ending, failed) else CaseOutcome.CRASHED
        if failed:
            return CaseOutcome.FAILED
        if self.of("interrupted") or self.of("unmet"):
            return CaseOutcome.CRASHED
        return CaseOutcome.HELD if asserted else CaseOutcome.EMPTY


def case_runs(records: Sequence[Record], names: Sequence[str]) -> tuple[CaseRun, ...]:
    """The run of each case, in the program's order."""
    begun, hows = set[int](), dict[int, str]()
    own: dict[int, list[Record]] = {}
    for kind, *values in records:
        if kind == "case":
            begun.add(int(values[0]))
        elif kind == "over":
            hows[int(values[0])] = str(values[1])
        elif kind == "in":
            own.setdefault(int(values[0]), []).append(tuple(values[1:]))
    made, runs = _made(records, _end(records)), list[CaseRun]()
    for place, title in enumerate(names):
        run = CaseRun(title, place in begun, hows.get(place, ""), tuple(own.get(place, ())))
        runs.append(replace(run, shift=made - int(run.base[0])))
        made += run.made
    return tuple(runs)


def join_case_records(records: Sequence[Record], runs: Sequence[CaseRun]) -> tuple[Record, ...]:
    """The records of the whole run as one process would have made them, but for the cases' assertions."""
    first = next((place for place, record in enumerate(records) if record[0] in _OF_CASES), len(records))
    rest = [record for record in records[first:] if record[0] not in _OF_CASES]
    own = [*records[:first], *rest]
    told = [record for record in own if record[0] not in ("printed", "end", "turn")]
    for place, run in enumerate(runs, start=1):
        told += _moved(run, place * _STRIDE)
    return (*told, *_printed(records[:first], runs, rest), *_ends(own, runs))


def _end(records: Iterable[Record]) -> End | None:
    return next((record[1:] for record in records if record[0] == "end"), None)


def _made(records: Iterable[Record], end: End | None) -> int:
    """How many calls of the candidate were made; without an end, at least those that were told."""
    told = max((int(record[1]) for record in records if record[0] == "call"), default=0)
    return max(told, int(end[7])) if end else told


def _moved(run: CaseRun, lanes: int) -> Iterator[Record]:
    """Its records of the trace and of calls, with numbers that no other process has given."""
    for kind, *values in run.records:
        if kind in ("call", "returned"):
            yield kind, run.number(values[0]), *values[1:]
        elif kind == "step":
            lane, *step, call = values
            yield kind, int(lane) + lanes, *step, run.number(call)
        elif kind == "folded":
            yield kind, int(values[0]) + lanes, *values[1:]
        elif kind in ("loop", "pass", "more", "done"):
            yield kind, int(values[0]) + lanes, int(values[1]) + lanes, *values[2:]
        elif kind in ("reached", "sign", "interrupted", "unmet"):
            yield kind, *values


def _ends(own: Sequence[Record], runs: Iterable[CaseRun]) -> Iterator[Record]:
    """The end of the whole run, where its process said it; whatever was said once more stays another end."""
    begun, end = [run for run in runs if run.begun], _end(own)
    if end:
        ends = [end, *(run.end for run in begun if run.end)]
        is_whole = all(run.end and run.how == "ended" for run in begun)
        reached, missed = _coverage(ends) if is_whole else ([], [])
        signs = [*dict.fromkeys(sign for one in ends for sign in one[3])]
        redefined, cut = any(one[2] for one in ends), any(one[6] for one in ends) or not is_whole
        made = _made(own, end) + sum(run.made for run in begun)
        yield "end", *end[:2], redefined, signs, reached, missed, cut, made
    yield from [record for record in own if record[0] == "end"][1:]
    yield from (("end", *one) for run in begun for one in run.of("end")[1:])


def _coverage(ends: Iterable[End]) -> tuple[list[int], list[int]]:
    """Lines reached by any, and by none; both empty where one of them cannot say."""
    lines, reached = set[int](), set[int]()
    for end in ends:
        if not end[4] and not end[5]:
            return [], []
        reached.update(map(int, end[4]))
        lines.update(map(int, (*end[4], *end[5])))
    return sorted(reached), sorted(lines - reached)


def _printed(before: Iterable[Record], runs: Iterable[CaseRun], after: Sequence[Record]) -> Iterator[Record]:
    """The turns of the whole run, and what it printed; that is wrong where a case did not say it."""
    printing = _Printing()
    yield from printing.turns(before)
    for run in runs:
        if run.of("base"):
            yield from printing.turns((), run.base[1:])
            yield from printing.turns(run.records)
            yield from printing.end(run)
    yield from printing.turns(after)
    yield from printing.whole(after)


@dataclass
class _Printing:
    """`added` are the bytes by which each output is ahead of what the program's process printed."""

    added: dict[int, int] = field(default_factory=lambda: {_STDOUT: 0, _STDERR: 0})
    told: dict[int, int] = field(default_factory=lambda: {_STDOUT: 0, _STDERR: 0})
    is_known: bool = True

    def turns(self, records: Iterable[Record], totals: Sequence[int] = (0, 0)) -> Iterator[Record]:
        """Those in `records`; then, since another process begins, one for what `totals` say beyond them."""
        found = [(int(record[1]), int(record[2])) for record in records if record[0] == "turn"]
        for stream, total in (*found, *zip((_STDOUT, _STDERR), totals, strict=True)):
            now = total + self.added[stream]
            if now > self.told[stream]:
                self.told[stream] = now
                yield "turn", stream, now

    def end(self, run: CaseRun) -> Iterator[Record]:
        """A case has ended."""
        printed = run.of("printed")
        if not printed or run.how != "ended":
            self.is_known = False
            return
        yield from self.turns((), printed[0])
        for stream, total, base in zip((_STDOUT, _STDERR), printed[0], run.base[1:], strict=True):
            self.added[stream] += int(total) - int(base)

    def whole(self, records: Iterable[Record]) -> Iterator[Record]:
        """The bytes printed in all, at the end of the program's process."""
        for kind, *values in records:
            if kind == "printed":
                out, err = (
                    int(total) + self.added[stream]
                    for stream, total in zip((_STDOUT, _STDERR), values, strict=True)
                )
                yield ("printed", out, err) if self.is_known else ("printed", -1, -1)
