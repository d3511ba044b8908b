"""A statistic as a function of sums per query, and what the draws make of it.

Whatever has columns that add up over queries and a function of their sums has an interval: 1,000 draws are
one matrix product, and the difference of two statistics is a statistic of the same draws.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan, nan
from typing import Final, TypeVar

import numpy as np

from annotation.stats.agreement.figures import (
    EXACT,
    MOST_UNDEFINED,
    RESAMPLED,
    TANGO,
    WILSON,
    Figure,
    Floats,
    expanded_percentile,
    format_percent,
    percentiles_without_nan,
    student_tail_probability,
)
from annotation.stats.agreement.korn_graubard import (
    FEW_EXCEPTIONS,
    count_exception_queries,
    effective_sample_size,
    exact_share_interval,
)
from annotation.stats.agreement.sample import EVEN, Draws
from annotation.stats.agreement.tango_interval import Apart
from annotation.stats.intervals import Z, clopper_pearson, wilson_interval

Key = TypeVar("Key", bound=Hashable)
Values = Callable[[Floats], Floats]
Parts = Callable[[Floats], tuple[Floats, Floats]]
ONE_SIDED: Final = 1.6448536269514722
"""95 % of a normal distribution lie below it."""
ONE_QUERY: Final = "everything belongs to one query, so there is nothing to resample"
UNDEFINED: Final = "in {} of the draws it has no value, too often for an interval"
NO_SPREAD: Final = "its draws do not spread, and an interval of no width would say too much"
NO_HIT: Final = "none in {n}: by the rule of three at most {most} of all"
NO_MISS: Final = "no exception in {n}: by the rule of three at most {most} of all"


@dataclass(frozen=True, eq=False)
class Statistic:
    """Columns by query, and the function of their sums (last axis) that is the statistic, nan if undefined.

    `words` say why it may be undefined. A share has `parts`: its part and its whole, from the same sums; it
    is `plain` where it counts pairs that are each of their own query and count alike; `pairs` of equal
    weights its whole is worth (0: nobody knows, and each query counts as one). The difference of two shares
    of the same pairs says how they are `apart`.
    """

    columns: Floats
    of: Values
    words: str = ""
    plain: bool = False
    parts: Parts | None = None
    pairs: float = 0.0
    apart: Apart | None = None

    def minus(self, other: Statistic, words: str = "") -> Statistic:
        """The difference of two statistics of the same queries."""
        mine, wide = self.columns.shape[1], self.of
        return Statistic(
            np.hstack([self.columns, other.columns]),
            lambda sums: wide(sums[..., :mine]) - other.of(sums[..., mine:]),
            words or self.words or other.words,
        )


def divide_or_nan(part: Floats, whole: Floats) -> Floats:
    """`part` ÷ `whole`; nan where that is 0."""
    defined = whole != 0
    return np.where(defined, part / np.where(defined, whole, 1), np.nan)


def first_two(sums: Floats) -> tuple[Floats, Floats]:
    """Part and whole where they are the first two columns."""
    return sums[..., 0], sums[..., 1]


def share_of(
    columns: Floats, words: str = "", plain: bool = False, parts: Parts = first_two, pairs: float = 0.0
) -> Statistic:
    """The share that a part has in a whole, of so many `pairs` (see `Statistic`)."""
    return Statistic(columns, lambda sums: divide_or_nan(*parts(sums)), words, plain, parts, pairs)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A statistic's value, and its value in every draw of queries from so many `strata`."""

    statistic: Statistic
    sums: Floats
    value: float
    draws: Floats = field(repr=False)
    strata: int = 1

    @cached_property
    def queries(self) -> int:
        """The queries that have something to say."""
        columns = self.statistic.columns
        if self.statistic.parts:
            return int(np.count_nonzero(self.statistic.parts(columns)[1]))
        return int((columns != 0).any(axis=1).sum())

    @cached_property
    def undefined(self) -> float:
        return float(np.isnan(self.draws).sum()) / self.draws.size if self.draws.size else 0.0

    @property
    def figure(self) -> Figure:
        """The value with its 95 % interval, or with the reason why there is none."""
        undefined, queries = self.undefined, self.queries
        if isnan(self.value):
            return Figure(None, undefined=undefined, queries=queries, words=self.statistic.words)
        if self.statistic.parts and self.statistic.plain:
            return self.counted
        if self.statistic.parts and self.value in (0.0, 1.0):
            return self.without_exception
        if queries < 2:
            return Figure(self.value, undefined=undefined, queries=queries, words=ONE_QUERY)
        if undefined > MOST_UNDEFINED:
            words = UNDEFINED.format(format_percent(undefined))
            return Figure(self.value, undefined=undefined, queries=queries, words=words)
        if self.apart:
            return self.scored(self.apart)
        low, high = percentiles_without_nan(
            self.draws, expanded_percentile(-Z, queries), expanded_percentile(Z, queries)
        )
        if high - low <= EVEN:
            return Figure(self.value, undefined=undefined, queries=queries, words=NO_SPREAD)
        if self.statistic.parts and self.exceptions < FEW_EXCEPTIONS:
            return self.rare
        return Figure(self.value, low, high, undefined, queries, method=RESAMPLED)

    @property
    def exceptions(self) -> int:
        """Of a share: the queries with a hit or those with a miss, which of both are fewer."""
        assert self.statistic.parts
        return count_exception_queries(*self.statistic.parts(self.statistic.columns))

    @property
    def counted(self) -> Figure:
        """A share of plain pairs: Wilson's interval."""
        queries = self.queries
        hits = round(self.value * queries)
        low, high = wilson_interval(hits, queries)
        return Figure(
            self.value, low, high, self.undefined, queries, describe_rule_of_three(hits, queries), WILSON
        )

    @property
    def without_exception(self) -> Figure:
        """A share of 0 or 1 in clusters or with weights: the exact interval, each query as one, by its
        weight. All draws are the same, and an interval of width 0 would be a claim that nobody can make.
        """
        assert self.statistic.parts
        many = effective_sample_size(self.statistic.parts(self.statistic.columns)[1])
        low, high = clopper_pearson(self.value * many, many)
        words = describe_rule_of_three(round(self.value * many), round(many))
        return Figure(self.value, low, high, self.undefined, self.queries, words, EXACT)

    @property
    def rare(self) -> Figure:
        """A share with few exceptions: the exact interval."""
        assert self.statistic.parts
        most = self.statistic.pairs or effective_sample_size(self.statistic.parts(self.statistic.columns)[1])
        low, high = exact_share_interval(self.value, self.deviation**2, most, self.queries, self.strata)
        return Figure(self.value, low, high, self.undefined, self.queries, method=EXACT)

    @property
    def apart(self) -> Apart | None:
        """Of a difference that few queries have: what is apart. None of others, which the draws know."""
        found = self.statistic.apart
        return found if found and (found.few or not self.deviation > 0) else None

    def scored(self, apart: Apart) -> Figure:
        """A difference that few queries have: Tango's interval."""
        low, high = apart.interval(self.many(apart))
        words = "" if apart.queries_apart else describe_rule_of_three(0, round(apart.queries))
        return Figure(self.value, low, high, self.undefined, self.queries, words, TANGO)

    def many(self, apart: Apart) -> float:
        """How many pairs of equal weights what is apart stands for."""
        return apart.many(self.deviation**2, self.queries, self.strata)

    @property
    def deviation(self) -> float:
        """The standard deviation over the draws: the statistic's standard error. nan without draws."""
        known = self.draws[~np.isnan(self.draws)]
        return float(known.std(ddof=1)) if known.size > 1 else nan

    @property
    def p(self) -> float | None:
        """Two-sided p that the statistic is 0, by its standard error; None where that says nothing."""
        if isnan(self.value) or self.undefined > MOST_UNDEFINED or self.queries < 2:
            return None
        if self.apart:
            return self.apart.p(self.many(self.apart))
        deviation = self.deviation
        if not deviation > 0:
            return 1.0 if self.value == 0 else None
        return 2 * student_tail_probability(abs(self.value) / deviation, self.queries)

    @property
    def at_least(self) -> float | None:
        """The one-sided 95 % lower bound of a share or of a difference of two; None without an interval.

        Where all draws are alike, a query that is wholly otherwise may just not have come up: with so many
        queries their share is, at 95 %, below this (the rule of three, one-sided).
        """
        if isnan(self.value) or self.undefined > MOST_UNDEFINED or self.queries < 2:
            return None
        if self.apart:
            return self.apart.at_least(self.many(self.apart), ONE_SIDED)
        if not self.deviation > 0:
            return max(self.value - (1 - float(0.05 ** (1 / self.queries))), -1.0)
        return percentiles_without_nan(self.draws, expanded_percentile(-ONE_SIDED, self.queries))[0]


def describe_rule_of_three(part: int, whole: int) -> str:
    """The rule of three: with none in n, 3 ÷ n is about the upper 95 % bound. Empty where there was one."""
    if 0 < part < whole:
        return ""
    return (NO_MISS if part else NO_HIT).format(n=f"{whole:,}", most=format_percent(min(1.0, 3 / whole)))


def measure_statistics(draws: Draws, statistics: Mapping[Key, Statistic]) -> dict[Key, Drawn]:
    """All of these statistics over the same draws, from one matrix product; those that share their columns
    (the same array) share its sums.
    """
    columns = {id(statistic.columns): statistic.columns for statistic in statistics.values()}
    ends = np.cumsum([column.shape[1] for column in columns.values()])
    if not columns:
        return {}
    wide = np.hstack(list(columns.values()))
    drawn = dict(zip(columns, np.split(draws.sums(wide), ends[:-1], axis=1), strict=True))
    made, strata = {}, len(draws.groups)
    for key, statistic in statistics.items():
        found = statistic.columns.sum(axis=0)
        made[key] = Drawn(
            statistic, found, float(statistic.of(found)), statistic.of(drawn[id(statistic.columns)]), strata
        )
    return made
