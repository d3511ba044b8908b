"""The figures of an estimate, as values that can be stored as JSON. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from typing import Any, Literal, Self

from pydantic import TypeAdapter

Source = Literal["counted", "measured", "paper", "assumed"]
"""Where a figure comes from: these collections, earlier builds, the paper, or nobody has looked yet."""


@dataclass(frozen=True, slots=True)
class Range:
    """A figure of which nobody is sure: what it is at the least, probably, and at the most."""

    low: float
    expected: float
    high: float

    @classmethod
    def of(cls, figure: float) -> Self:
        """A figure that is known."""
        return cls(figure, figure, figure)

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.expected + other.expected, self.high + other.high)

    def __mul__(self, other: Range) -> Range:
        """Both low, or both high, at once: the range is wider than chance would make it."""
        return Range(self.low * other.low, self.expected * other.expected, self.high * other.high)

    def within(self, least: float, most: float) -> Range:
        """The range cut to what is possible."""
        return Range(*(min(max(one, least), most) for one in (self.low, self.expected, self.high)))


NOTHING = Range.of(0.0)


def sum_ranges(ranges: Iterable[Range]) -> Range:
    return reduce(Range.__add__, ranges, NOTHING)


@dataclass(frozen=True, slots=True)
class StageEstimate:
    """One stage of a build: calls, tokens of all of them, and nanodollars (None without a price)."""

    stage: str
    calls: Range
    input_tokens: Range
    output_tokens: Range
    cost: Range | None

    @property
    def counts(self) -> tuple[Range, Range, Range]:
        return self.calls, self.input_tokens, self.output_tokens

    def times(self, factor: Range) -> StageEstimate:
        """The same for so many times the pairs."""
        cost = None if self.cost is None else self.cost * factor
        calls, given, said = (each * factor for each in self.counts)
        return StageEstimate(self.stage, calls, given, said, cost)

    def plus(self, other: StageEstimate) -> StageEstimate:
        """Both together; without a price where one has none."""
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        calls, given, said = map(Range.__add__, self.counts, other.counts)
        return StageEstimate(self.stage, calls, given, said, cost)


@dataclass(frozen=True, slots=True)
class Basis:
    """One figure that the estimate rests on, in words, and where it comes from."""

    what: str
    figure: str
    source: Source
    note: str = ""


@dataclass(frozen=True, slots=True)
class PriceUsed:
    """The row of the price table that was used: dollars per million tokens; id 0: typed with the order."""

    id: int
    model: str
    effective_from: datetime
    input: str
    output: str
    note: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a build will take. `pairs` is known before: queries × k, or the limit; each has so many rounds."""

    pairs: int
    queries: int
    candidates: int
    stages: tuple[StageEstimate, ...]
    price: PriceUsed | None
    basis: tuple[Basis, ...]
    made_at: datetime
    rounds: int = 1

    @property
    def calls(self) -> Range:
        return sum_ranges(stage.calls for stage in self.stages)

    @property
    def input_tokens(self) -> Range:
        return sum_ranges(stage.input_tokens for stage in self.stages)

    @property
    def output_tokens(self) -> Range:
        return sum_ranges(stage.output_tokens for stage in self.stages)

    @property
    def cost(self) -> Range | None:
        """Nanodollars; None without a price."""
        if self.price is None:
            return None
        return sum_ranges(stage.cost for stage in self.stages if stage.cost is not None)

    def times(self, factor: Range) -> Estimate:
        """The same for so many times the pairs, of which nobody is sure how many there will be."""
        return replace(self, stages=tuple(stage.times(factor) for stage in self.stages))

    def plus(self, other: Estimate) -> Estimate:
        """The sum of both, at the price of this one. A stage that only one of them has stays as it is."""
        more = {stage.stage: stage for stage in other.stages}
        both = [stage.plus(more.pop(stage.stage)) if stage.stage in more else stage for stage in self.stages]
        return replace(self, pairs=self.pairs + other.pairs, stages=(*both, *more.values()))

    def to_json(self) -> dict[str, Any]:
        """Plain data, as `from_json` takes it."""
        data: dict[str, Any] = ESTIMATE.dump_python(self, mode="json")
        return data

    @classmethod
    def from_json(cls, data: object) -> Estimate:
        """The estimate that `to_json` described. Raises pydantic's ValidationError."""
        return ESTIMATE.validate_python(data)


ESTIMATE: TypeAdapter[Estimate] = TypeAdapter(Estimate)
