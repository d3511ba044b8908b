"""Keeps what the assertions evaluate, and sends it out at once: it survives a program that is killed."""

from __future__ import annotations

import sys

from sandbox.harness.values import render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sandbox.harness.channel import Channel
    from sandbox.harness.instrument import Site
    from sandbox.harness.tracer import Tracer

_DISTINCT, _DISTINCT_AT_A_SITE = 400, 20
# Taken before the program runs: what it puts in their place as built-ins decides nothing here.
_truth, _Failed, _frame = bool, AssertionError, sys._getframe


class _Evaluation:
    __slots__ = ("calls", "checked", "made", "site", "values")

    def __init__(self, site: int, calls: int, made: int) -> None:
        self.site, self.calls, self.made = site, calls, made
        self.checked: list[int] = []
        self.values: list[object] = []


class Recorder:
    """Receives begin, value, end and call from the instrumented program.

    `is_rebound` says whether something else stands in the candidate's place now: it is asked with each
    assertion, because a program may put the candidate back before its end. `callable_candidate`: some of the
    candidate's code can be seen when it runs; of constants, what leads back to them has touched them.
    """

    def __init__(self, channel: Channel, tracer: Tracer, value_chars: int) -> None:
        self.sites: list[Site] = []
        self.is_rebound: Callable[[], bool] | None = None
        self.callable_candidate = True
        self.rebound = self.reached = False
        self._channel, self._tracer, self._limit = channel, tracer, value_chars
        # By the frame that evaluates it: coroutines take turns in the midst of their assertions.
        self._open: dict[int, _Evaluation] = {}
        self._counts: dict[tuple[Any, ...], int] = {}
        self._last: dict[tuple[int, bool], tuple[Any, ...]] = {}
        self._distinct: dict[int, int] = {}

    def begin(self, site: int) -> _Evaluation:
        """An assertion is reached; what it compares follows."""
        evaluation = self._reach(site)
        frame = id(_frame(1))
        self._open[frame] = evaluation
        self._tracer.checking[frame] = evaluation.checked
        return evaluation

    def value(self, site: int, value: Any) -> Any:
        """One compared value, handed on unchanged."""
        evaluation = self._open.get(id(_frame(1)))
        if evaluation is not None and evaluation.site == site:
            evaluation.values.append(value)
        return value

    def end(self, begun: _Evaluation, value: Any) -> bool:
        """The assertion is evaluated: its truth is asked for once, here."""
        held = _truth(value)
        frame = id(_frame(1))
        self._open.pop(frame, None)
        self._tracer.checking.pop(frame, None)
        values = begun.values or ([] if value is True or value is False else [value])
        self._record(begun, held, values)
        return held

    def call(self, site: int, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """A foreign assertion function: it holds when it returns. What the program put there is none."""
        if not _is_foreign(function):
            return function(*arguments, **named)
        evaluation = self._reach(site)
        try:
            result = function(*arguments, **named)
        except _Failed:
            self._record(evaluation, False, list(arguments[:2]))
            raise
        self._record(evaluation, True, list(arguments[:2]))
        return result

    def start_anew(self) -> None:
        """Go on in a fork: its assertions are counted by themselves."""
        self._counts, self._last, self._distinct = {}, {}, {}

    def totals(self) -> list[int]:
        """How often each record was seen, in the order in which they were sent."""
        return list(self._counts.values())

    def _reach(self, site: int) -> _Evaluation:
        self._tracer.resume()
        if not self.reached:
            self.reached = True
            self._channel.send("reached")
        if not self.rebound and self.is_rebound is not None:
            self.rebound = self.is_rebound()
        return _Evaluation(site, self._tracer.calls, self._tracer.made)

    def _record(self, evaluation: _Evaluation, held: bool, values: list[object]) -> None:
        number = evaluation.site
        site = self.sites[number]
        touched = self._ran_meanwhile(evaluation) or (site.leads_back and self._ran_before())
        crowded = self._distinct.get(number, 0) >= _DISTINCT_AT_A_SITE or len(self._counts) >= _DISTINCT
        if crowded and (number, held) in self._last:
            self._counts[self._last[number, held]] += 1
            return
        with self._tracer.paused():
            texts = [render(value, self._limit, True) for value in values]
        key = (number, held, texts[0] if texts else None, texts[-1] if len(texts) > 1 else None, touched)
        self._last[number, held] = key
        if key in self._counts:
            self._counts[key] += 1
            return
        self._counts[key] = 1
        self._distinct[number] = self._distinct.get(number, 0) + 1
        checked = self._checked(evaluation, site) if touched else []
        self._channel.send("assertion", site.line, site.source, *key[1:], checked, site.case)

    def _ran_meanwhile(self, evaluation: _Evaluation) -> bool:
        return self._tracer.calls > evaluation.calls

    def _ran_before(self) -> bool:
        return self._tracer.calls > 0 or not self.callable_candidate

    def _checked(self, evaluation: _Evaluation, site: Site) -> list[int]:
        """The numbers of the calls whose results were compared; for a name, the last call made for it."""
        found = set(evaluation.checked)
        for lines in site.origins:
            numbers = (self._tracer.called_from.get(line, 0) for line in lines)
            # A call of another thread's may have come meanwhile.
            found.add(max((one for one in numbers if one <= evaluation.made), default=0))
        return sorted(found - {0})


def _is_foreign(function: Callable[..., Any]) -> bool:
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    path: str = getattr(code, "co_filename", "")
    return path.startswith("/") and not path.startswith("/tmp/")
