"""Krippendorff's alpha for nominal values, with an interval that resamples clusters. Pure: no I/O.

Alpha = 1 − observed ÷ expected disagreement (Krippendorff 2011, "Computing Krippendorff's
Alpha-Reliability"). A missing value is no value: a unit counts with the values that it has, and not at all
with fewer than two. Units of one cluster (pairs of one query) are not independent, so whole clusters are
resampled (Field and Welsh 2007, JRSS-B 69:369). Both sums that alpha is made of add up over units, so a
resample costs one sum over clusters, however many units there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

RESAMPLES: Final = 1000
SEED: Final = 20241
MOST_UNDEFINED: Final = 0.05
"""With more resamples that have no value, there is no interval to show."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Figure:
    """A statistic with its 95 % interval. `value` is None where it is not defined; the ends are, too, where
    more than 5 % of the resamples have no value. `undefined` is the share of those, 0 to 1.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    undefined: float = 0.0


def unit(counts: Sequence[int]) -> tuple[float, ...]:
    """What a unit adds to alpha, from how often each value was given: disagreement, then the counts.

    All zeros where fewer than two values were given.
    """
    given = sum(counts)
    if given < 2:
        return (0.0,) * (1 + len(counts))
    return sum(count * (given - count) for count in counts) / (given - 1), *map(float, counts)


def alpha(sums: Floats) -> Floats:
    """Alpha from sums of `unit` (last axis); nan where fewer than two different values were given."""
    disagreement, counts = sums[..., 0], sums[..., 1:]
    given = counts.sum(axis=-1)
    expected = given**2 - (counts**2).sum(axis=-1)
    defined = expected > 0
    return np.where(defined, 1 - (given - 1) * disagreement / np.where(defined, expected, 1), np.nan)


def share(sums: Floats) -> Floats:
    """First column ÷ second column (last axis); nan where that is 0."""
    whole = sums[..., 1]
    return np.where(whole > 0, sums[..., 0] / np.where(whole > 0, whole, 1), np.nan)


def resampled(clusters: Floats) -> tuple[Floats, Floats]:
    """The sum of the clusters' rows, and the sums of 1,000 draws of as many clusters, always the same."""
    generator = np.random.default_rng(SEED)
    size = len(clusters)
    draws = [clusters[generator.integers(size, size=size)].sum(axis=0) for _ in range(RESAMPLES)]
    return clusters.sum(axis=0), np.array(draws)


def figure(found: Floats, draws: Floats, statistic: Callable[[Floats], Floats]) -> Figure:
    """A statistic of the sums and of their resamples, by the percentiles 2.5 and 97.5."""
    value, values = float(statistic(found)), statistic(draws)
    undefined = float(np.isnan(values).mean())
    if np.isnan(value):
        return Figure(None, undefined=undefined)
    if undefined > MOST_UNDEFINED:
        return Figure(value, undefined=undefined)
    ends: Any = np.nanpercentile(values, [2.5, 97.5])
    return Figure(value, float(ends[0]), float(ends[1]), undefined)
