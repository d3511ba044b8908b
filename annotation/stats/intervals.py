"""95 % intervals of what a random sample shows. Pure: numbers in, numbers out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np

from annotation.stats.distributions import beta_quantile
from retrieval.metrics.resampling import SHARE_RESAMPLES, bootstrap_sums, draw_units, percentile_interval

Z: Final = 1.959963984540054
"""97.5 % of a normal distribution lie below it."""


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
        return None if not self.whole else (self.between or wilson_interval(self.part, self.whole))[0]

    @property
    def high(self) -> float | None:
        return None if not self.whole else (self.between or wilson_interval(self.part, self.whole))[1]


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


def wilson_interval(part: int, whole: int) -> tuple[float, float]:
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


def bootstrap_mean(values: Sequence[float], seed: int) -> Mean:
    """The mean of at least one value, with the percentile bootstrap interval over the values.

    The same values and seed give the same interval. One value alone has none. Raises ValueError without any.
    """
    if not values:
        raise ValueError("there is no mean of nothing")
    given = np.asarray(values, dtype=np.float64)
    if len(given) < 2:
        return Mean(float(given[0]))
    means = [given[draws].mean(axis=1) for draws in draw_units(len(given), seed, SHARE_RESAMPLES)]
    between = percentile_interval(np.concatenate(means))
    return Mean(float(given.mean()), between.low, between.high)


def bootstrap_ratio(parts: Sequence[float], wholes: Sequence[float], seed: int) -> tuple[float, float] | None:
    """The percentile bootstrap interval of sum(parts) / sum(wholes), resampling units with all they have.

    A unit is a query with its pairs: pairs of one query are more alike than pairs of different ones. None
    with fewer than two units that have anything.
    """
    given = np.asarray([parts, wholes], dtype=np.float64).reshape(2, -1).T
    given = given[given[:, 1] > 0]
    if len(given) < 2:
        return None
    sums = bootstrap_sums(given, seed, SHARE_RESAMPLES)
    between = percentile_interval(sums[:, 0] / sums[:, 1])
    return between.low, between.high
