"""Resampling: how often, by which seed, and the draws. Every interval from draws and every randomisation test
of the workbench is made of these, so that one place says what the figures rest on.

Units are whole queries with all that they have: pairs of one query are not independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

RESAMPLES: Final = 1_000
"""Draws where many figures are resampled at once: leaderboards, studies, comparisons. Pins tell it."""
SHARE_RESAMPLES: Final = 2_000
"""Draws of the few figures of a canary or an audit, which can afford more."""
SIMULATED_DRAWS: Final = 200
"""Draws where each measures everything anew: all systems by flipped labels, or a whole made-up study."""
SIGN_FLIPS: Final = 4_999
"""The smallest p-value is 1 / (SIGN_FLIPS + 1) = 0.0002."""

RANKING_SEED: Final = 20_604
"""Of systems on a benchmark. Every seed is kept with its figure: the same values give the same interval."""
AGREEMENT_SEED: Final = 20_241
"""Of studies, comparisons of labels, rounds and places."""
AUDIT_SEED: Final = 20_240_601

FEW: Final = 30
"""With fewer queries the interval is too short; whoever shows one says so."""
FEW_TOLD: Final = f"With fewer than {FEW} queries intervals are too short."

AT_ONCE: Final = 100
"""Draws that are held at once."""


@dataclass(frozen=True, slots=True)
class Interval:
    """95 % of the resampled values lie between the two."""

    low: float
    high: float


def percentile_interval(values: Doubles) -> Interval:
    """The percentile interval of resampled values, shape (resamples,) (Efron and Tibshirani 1993, ch. 13)."""
    low, high = np.percentile(values, [2.5, 97.5])
    return Interval(float(low), float(high))


def draw_units(units: int, seed: int, resamples: int = RESAMPLES) -> Iterator[Ints]:
    """Places of as many units as there are, drawn with replacement: blocks of shape (draws, units)."""
    random = np.random.default_rng(seed)
    for start in range(0, resamples, AT_ONCE):
        yield random.integers(0, units, (min(AT_ONCE, resamples - start), units))


def bootstrap_means(values: Doubles, seed: int = RANKING_SEED, resamples: int = RESAMPLES) -> Doubles:
    """Means over resampled queries, shape (measures, resamples), of values of shape (measures, queries).

    The same queries are drawn for all measures, so that differences of two rows are paired. Raises ValueError
    without queries, and for values that are not finite numbers.
    """
    if values.ndim != 2 or not values.shape[1]:
        raise ValueError(f"expected rows of measures and at least one query, found shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("every value must be a finite number; leave queries without a match out")
    queries = values.shape[1]
    parts = []
    for draws in draw_units(queries, seed, resamples):
        weights = np.array([np.bincount(draw, minlength=queries) for draw in draws], dtype=np.float64)
        parts.append(values @ weights.T / queries)
    return np.hstack(parts)


def bootstrap_sums(columns: Doubles, seed: int, resamples: int = RESAMPLES) -> Doubles:
    """Sums over resampled units, shape (resamples, columns), of values of shape (units, columns)."""
    return np.vstack([columns[draws].sum(axis=1) for draws in draw_units(len(columns), seed, resamples)])


def draw_within_groups(generator: np.random.Generator, groups: Sequence[Ints], size: int) -> Doubles:
    """How often each unit counts in each of `size` draws, from every group of places its own.

    Of n units n − 1 are drawn and count n ÷ (n − 1) times each: drawing n makes intervals too short by the
    factor √((n − 1) ÷ n) (Rao, Wu and Yue 1992, Survey Methodology 18:209). One that is alone counts once.
    """
    counts = np.ones((size, sum(map(len, groups))))
    for members in groups:
        many = len(members)
        if many < 2:
            continue
        picked = generator.integers(many, size=(size, many - 1)) + many * np.arange(size)[:, None]
        found = np.bincount(picked.ravel(), minlength=size * many).reshape(size, many)
        counts[:, members] = found * (many / (many - 1))
    return counts


def paired_p(differences: Doubles, seed: int = RANKING_SEED, flips: int = SIGN_FLIPS) -> Doubles:
    """Two-sided p-values of paired randomisation tests, shape (comparisons,).

    `differences`: second minus first system, query by query, shape (comparisons, queries). If it made no
    difference which is which, each query's sign could as well be the other one: p = (1 + flips with a mean at
    least as far from 0) ÷ (1 + flips) (Fisher 1935; for retrieval Urbano et al. 2019). Raises ValueError for
    another shape.
    """
    if differences.ndim != 2 or not differences.shape[1]:
        raise ValueError(f"expected rows of comparisons and at least one query, got {differences.shape}")
    observed = np.abs(differences.sum(axis=1))
    extreme = np.zeros(len(differences))
    random = np.random.default_rng(seed)
    for start in range(0, flips, AT_ONCE):
        shape = (min(AT_ONCE, flips - start), differences.shape[1])
        signs = random.integers(0, 2, shape, dtype=np.int8).astype(np.float64) * 2 - 1
        extreme += (np.abs(signs @ differences.T) >= observed - 1e-9).sum(axis=0)
    return np.asarray((1 + extreme) / (1 + flips))
