"""95 % intervals of what a random sample shows. Pure: numbers in, numbers out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, lgamma, log, log1p, sqrt
from typing import Final

import numpy as np

Z: Final = 1.959963984540054
"""97.5 % of a normal distribution lie below it."""
RESAMPLES: Final = 2000
FEW: Final = 30
"""With fewer units a bootstrap interval is too short; whoever shows one says so."""
CLOSE: Final = 1e-10


@dataclass(frozen=True)
class Share:
    """`part` of `whole`, with its Wilson interval; all three figures are None where `whole` is 0.

    `between`: another interval, where the units of the sample are not what is counted.
    """

    part: int
    whole: int
    between: tuple[float, float] | None = None

    @property
    def value(self) -> float | None:
        return self.part / self.whole if self.whole else None

    @property
    def low(self) -> float | None:
        return None if not self.whole else (self.between or wilson(self.part, self.whole))[0]

    @property
    def high(self) -> float | None:
        return None if not self.whole else (self.between or wilson(self.part, self.whole))[1]


@dataclass(frozen=True)
class Mean:
    """A mean with its interval; the ends are None where there is too little for one."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def has_interval(self) -> bool:
        return self.low is not None and self.high is not None

    def times(self, factor: float) -> Mean:
        """The same for a sum of `factor` such values."""
        if self.low is None or self.high is None:
            return Mean(self.value * factor)
        return Mean(self.value * factor, self.low * factor, self.high * factor)


def wilson(part: int, whole: int) -> tuple[float, float]:
    """The Wilson score interval of a share (Wilson 1927): never empty, also at 0 and at 1.

    Raises ValueError unless 0 <= part <= whole and whole > 0.
    """
    if not 0 <= part <= whole or not whole:
        raise ValueError(f"{part} of {whole} is no share")
    share, spread = part / whole, Z * Z / whole
    middle = (share + spread / 2) / (1 + spread)
    half = Z * sqrt((share * (1 - share) + spread / 4) / whole) / (1 + spread)
    return (middle - half if part else 0.0, middle + half if part < whole else 1.0)


def clopper_pearson(part: float, whole: float) -> tuple[float, float]:
    """The exact interval of a share (Clopper and Pearson 1934); neither number needs to be a whole one.

    Raises ValueError unless 0 <= part <= whole and whole > 0.
    """
    if not 0 <= part <= whole or not whole:
        raise ValueError(f"{part} of {whole} is no share")
    low = beta_quantile(0.025, part, whole - part + 1) if part else 0.0
    return low, beta_quantile(0.975, part + 1, whole - part) if part < whole else 1.0


@lru_cache(maxsize=4096)
def beta_quantile(share: float, a: float, b: float) -> float:
    """Below which `share` of the beta distribution lies: Newton's steps, halving where one leads astray."""
    low, high, place = 0.0, 1.0, min(max(a / (a + b), CLOSE), 1 - CLOSE)
    for _ in range(200):
        off = beta_below(place, a, b) - share
        low, high = (low, place) if off > 0 else (place, high)
        steep = exp(beta_height(place, a, b) - log(place) - log1p(-place))
        step = place - off / steep if steep else low
        after = step if low < step < high else (low + high) / 2
        if abs(after - place) < CLOSE:
            return after
        place = after
    return place


def beta_below(x: float, a: float, b: float) -> float:
    """The share of the beta distribution below `x`, 0 < x < 1, by its continued fraction (Press et al. 2007,
    Numerical Recipes, 6.4).
    """
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_below(1 - x, b, a)
    return exp(beta_height(x, a, b)) / a * beta_fraction(x, a, b)


def beta_height(x: float, a: float, b: float) -> float:
    """The logarithm of x ** a * (1 - x) ** b over the beta function of a and b."""
    return lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)


def beta_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction, by Lentz's steps."""
    above, below = 1.0, 1 / nonzero(1 - (a + b) * x / (a + 1))
    found = below
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = 1.0
        for term in (even, odd):
            below, above = 1 / nonzero(1 + term * below), nonzero(1 + term / above)
            change = below * above
            found *= change
        if abs(change - 1) < CLOSE / 1000:
            break
    return found


def nonzero(value: float) -> float:
    """What may be divided by."""
    return value if abs(value) > 1e-300 else 1e-300


def bootstrap_mean(values: Sequence[float], seed: int) -> Mean:
    """The mean of at least one value, with the percentile bootstrap interval over the values.

    The same values and seed give the same interval. One value alone has none. Raises ValueError without any.
    """
    if not values:
        raise ValueError("there is no mean of nothing")
    given = np.asarray(values, dtype=np.float64)
    if len(given) < 2:
        return Mean(float(given[0]))
    draws = np.random.default_rng(seed).integers(0, len(given), (RESAMPLES, len(given)))
    low, high = np.percentile(given[draws].mean(axis=1), [2.5, 97.5])
    return Mean(float(given.mean()), float(low), float(high))


def bootstrap_ratio(parts: Sequence[float], wholes: Sequence[float], seed: int) -> tuple[float, float] | None:
    """The percentile bootstrap interval of sum(parts) / sum(wholes), resampling units with all they have.

    A unit is a query with its pairs: pairs of one query are more alike than pairs of different ones. None
    with fewer than two units that have anything.
    """
    given = np.asarray([parts, wholes], dtype=np.float64).reshape(2, -1)
    given = given[:, given[1] > 0]
    units = given.shape[1]
    if units < 2:
        return None
    draws = np.random.default_rng(seed).integers(0, units, (RESAMPLES, units))
    sums = given[:, draws].sum(axis=2)
    low, high = np.percentile(sums[0] / sums[1], [2.5, 97.5])
    return float(low), float(high)


def clustered_share(counts: Sequence[tuple[int, int]], seed: int) -> Share:
    """The share in a sample of whole queries, each given as (part, whole); its interval resamples them.

    Where every query shows the same, no resample differs: then the interval is Wilson's with one observation
    a query, as if all pairs of a query were one. The same with a single query.
    """
    parts, wholes = [part for part, _ in counts], [whole for _, whole in counts]
    part, whole = sum(parts), sum(wholes)
    found = bootstrap_ratio(parts, wholes, seed)
    if found is None or found[0] == found[1]:
        queries = sum(one > 0 for one in wholes)
        found = wilson(round(part / whole * queries), queries) if queries else None
    return Share(part, whole, found)
