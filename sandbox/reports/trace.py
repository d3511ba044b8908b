"""The way through the candidate, as frozen data: steps, folded loops, and the calls that led into it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class CandidateCall:
    """One call into the candidate from outside of it; `line` is the test program's, 0 where none is known.

    `returned` is None while the call goes on, and where it ended by the exception whose type is `raised`.
    """

    number: int
    function: str
    line: int
    arguments: str
    returned: str | None = None
    raised: str | None = None


@dataclass(frozen=True, slots=True)
class TraceStep:
    """The candidate is about to execute `line`; `changed` are the locals that differ from those shown last.

    `call` is the number of the CandidateCall to which the step belongs, 0 where calls were not numbered.
    """

    line: int
    function: str
    depth: int
    changed: tuple[tuple[str, str], ...] = ()
    count: int = 1
    call: int = 0


@dataclass(frozen=True, slots=True)
class TracePass:
    """One pass of a loop, counted from 1; `count` passes, this one included, took the same way."""

    number: int
    steps: "tuple[TraceStep | TraceLoop, ...]"
    count: int = 1


@dataclass(frozen=True, slots=True)
class TraceLoop:
    """A loop of the candidate, or (`repeated`) one function of it that was entered `passes` times in a row.

    `shown` are the passes that differ from each other and the first ones that do not. All others took a way
    that is shown here, or in an earlier execution of the same loop. `changed` are the locals at its end that
    no step shows.
    """

    line: int
    function: str
    depth: int
    passes: int
    shown: tuple[TracePass, ...] = ()
    changed: tuple[tuple[str, str], ...] = ()
    repeated: bool = False


def steps_of(items: Iterable[TraceStep | TraceLoop]) -> Iterator[TraceStep]:
    """The steps that are stored, in order, each loop's shown passes one after the other."""
    for item in items:
        if isinstance(item, TraceStep):
            yield item
        else:
            for one in item.shown:
                yield from steps_of(one.steps)


def items_from(data: Iterable[dict[str, Any]]) -> tuple[TraceStep | TraceLoop, ...]:
    """A trace read from JSON."""
    return tuple(_loop(one) if "passes" in one else _step(one) for one in data)


def _step(data: dict[str, Any]) -> TraceStep:
    return TraceStep(**{**data, "changed": _freeze_pairs(data["changed"])})


def _loop(data: dict[str, Any]) -> TraceLoop:
    shown = tuple(TracePass(one["number"], items_from(one["steps"]), one["count"]) for one in data["shown"])
    return TraceLoop(**{**data, "shown": shown, "changed": _freeze_pairs(data["changed"])})


def _freeze_pairs(data: Iterable[Iterable[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(value)) for name, value in data)
