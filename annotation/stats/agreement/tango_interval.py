"""Differences of two shares of the same pairs that few queries have: Tango's score interval.

Of few pairs on which one alone is right the draws of queries show too little: with margins of 2 and 5 points
they found non-inferior what was worse by the margin in 6 to 17 % of studies instead of 5 %. Tango (1998,
Statistics in Medicine 17:891) asks how well each difference would explain both kinds of pairs, so that one
that nobody has seen yet counts. Pairs that weigh differently or share a query stand for fewer: for as many as
vary as much (as in `rare`).
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np

from annotation.stats.agreement.figures import Floats, student_t_quantile
from annotation.stats.agreement.korn_graubard import effective_sample_size
from annotation.stats.agreement.sample import Sample
from annotation.stats.distributions import normal_below
from annotation.stats.intervals import Z, clopper_pearson
from retrieval.metrics.resampling import FEW

ALIKE: Final = 0.1
"""How alike pairs of a query are taken to be at least, as an intraclass correlation (the planner's, too): of
few pairs apart, two of one query may just not have come up."""
STEPS: Final = 10**9


@dataclass(frozen=True, slots=True)
class Apart:
    """How two shares of the same pairs differ. `ahead` and `behind` are how far the first is, each in all
    pairs (weighted); `square` is the mean square of what each pair adds to the difference, and in
    `queries_apart` there is such a pair. All pairs, and all queries, are worth so many of equal weights.
    """

    ahead: float
    behind: float
    square: float
    pairs: float
    queries: float
    queries_apart: int

    @classmethod
    def of(cls, sample: Sample, differences: Floats, shares: Floats) -> Apart | None:
        """`differences` are of pairs × columns, each of which counts by its share; None where none counts."""
        whole = float(shares.sum())
        if not whole:
            return None
        each, weight = (differences * shares).sum(axis=1), shares.sum(axis=1)
        far = np.where(weight > 0, each / np.where(weight > 0, weight, 1), 0.0)
        apart = sample.sums((np.abs(differences) * shares).sum(axis=1)[:, None])
        return cls(
            ahead=float((np.maximum(differences, 0) * shares).sum()) / whole,
            behind=float((np.maximum(-differences, 0) * shares).sum()) / whole,
            square=float((far**2 * weight).sum()) / whole,
            pairs=effective_sample_size(weight),
            queries=effective_sample_size(sample.sums(weight[:, None])[:, 0]),
            queries_apart=int(np.count_nonzero(apart)),
        )

    @property
    def value(self) -> float:
        return self.ahead - self.behind

    @property
    def few(self) -> bool:
        """Whether draws of queries know too little: fewer than `FEW` are apart, and not most of all.
        Simulated: from there on the draws claim non-inferiority in 6 % (of two pairs a query in 7 %).
        """
        return self.queries_apart < FEW and 2 * self.queries_apart <= self.queries

    @property
    def most(self) -> float:
        """How many pairs of equal weights, each of its own query, these are worth at most (Kish 1965)."""
        a_query = self.pairs / self.queries
        return self.pairs / (1 + max(a_query - 1, 0) * ALIKE)

    def many(self, variance: float, queries: int, strata: int) -> float:
        """As many pairs as vary so much over draws of `queries` in `strata`, as in `rare.exact`."""
        varies = self.ahead + self.behind - self.value**2
        least = max(variance, (self.square - self.value**2) / self.most)
        found = varies / least if varies > 0 and least > 0 else self.queries
        free = max(queries - strata, 1)
        return found * min(
            (student_t_quantile(Z, max(self.most - 1, 1)) / student_t_quantile(Z, free)) ** 2, 1.0
        )

    def interval(self, many: float) -> tuple[float, float]:
        """The 95 % interval. Where the two are never apart each query is one: nobody knows how alike its
        pairs are.
        """
        if not self.queries_apart:
            most = clopper_pearson(0, self.queries)[1]
            return -most, most
        return tango_lower_bound(self.ahead, self.behind, many, Z), -tango_lower_bound(
            self.behind, self.ahead, many, Z
        )

    def at_least(self, many: float, z: float) -> float:
        """The one-sided lower bound by the normal quantile `z`."""
        if not self.queries_apart:
            return float((1 - normal_below(z)) ** (1 / self.queries)) - 1
        return tango_lower_bound(self.ahead, self.behind, many, z)

    def p(self, many: float) -> float:
        """Two-sided p that the difference is 0: McNemar's, to which Tango's score comes down there."""
        apart = self.ahead + self.behind
        return 2 * normal_below(-abs(self.value) * sqrt(many / apart)) if apart else 1.0


def tango_lower_bound(ahead: float, behind: float, many: float, z: float) -> float:
    """The smallest difference that lies no further than `z` from what `many` pairs show, to a billionth."""
    value = ahead - behind

    def is_near(step: int) -> bool:
        true = -1 + (value + 1) * step / STEPS
        return many * (value - true) ** 2 <= z * z * tango_variance(ahead, behind, true)

    return -1 + (value + 1) * bisect_left(range(STEPS), True, key=is_near) / STEPS


def tango_variance(ahead: float, behind: float, true: float) -> float:
    """The variance of a pair's difference where `true` is its mean and the rest is as likely as can be."""
    linear = (2 - ahead + behind) * true - ahead - behind
    root = sqrt(max(linear**2 + 8 * behind * true * (1 - true), 0.0))
    return (root - linear) / 2 + true * (1 - true)
