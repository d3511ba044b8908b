"""How sure a mean over queries is: intervals by resampling queries with all that they have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
RESAMPLES = 1000
DRAWS_AT_ONCE = 100
SEED = 20_604
"""Kept with every figure: the same values and seed give the same interval."""
FEW = 30
"""With fewer queries the interval is too short; whoever shows one says so."""
FEW_TOLD = f"With fewer than {FEW} queries intervals are known to be too short."


@dataclass(frozen=True, slots=True)
class Interval:
    """95 % of the resampled means lie between the two."""

    low: float
    high: float


def bootstrap_means(values: Doubles, seed: int = SEED, resamples: int = RESAMPLES) -> Doubles:
    """Means over resampled queries, shape (measures, resamples), of values of shape (measures, queries).

    Each resample draws as many queries as there are, with replacement, the same ones for all measures, so
    that differences of two rows are paired. Raises ValueError without queries, and for values that are not
    finite numbers.
    """
    if values.ndim != 2 or not values.shape[1]:
        raise ValueError(f"expected rows of measures and at least one query, found shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("every value must be a finite number; leave queries without a match out")
    queries = values.shape[1]
    random = np.random.default_rng(seed)
    parts = []
    for start in range(0, resamples, DRAWS_AT_ONCE):
        drawn = [random.integers(0, queries, queries) for _ in range(min(DRAWS_AT_ONCE, resamples - start))]
        weights = np.array([np.bincount(draw, minlength=queries) for draw in drawn], dtype=np.float64)
        parts.append(values @ weights.T / queries)
    return np.hstack(parts)


def interval(means: Doubles) -> Interval:
    """The percentile interval of resampled means, shape (resamples,) (Efron and Tibshirani 1993, ch. 13)."""
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(float(low), float(high))
