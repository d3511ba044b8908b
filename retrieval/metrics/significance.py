"""Is a difference of two means over the same queries more than chance? Randomisation tests, with Holm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from retrieval.metrics.resampling import SEED

Doubles = npt.NDArray[np.float64]
FLIPS = 4999
"""The smallest p-value is 1 / (FLIPS + 1) = 0.0002."""

FLIPS_AT_ONCE = 100


def paired_p(differences: Doubles, seed: int = SEED, flips: int = FLIPS) -> Doubles:
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
    for start in range(0, flips, FLIPS_AT_ONCE):
        shape = (min(FLIPS_AT_ONCE, flips - start), differences.shape[1])
        signs = random.integers(0, 2, shape, dtype=np.int8).astype(np.float64) * 2 - 1
        extreme += (np.abs(signs @ differences.T) >= observed - 1e-9).sum(axis=0)
    return np.asarray((1 + extreme) / (1 + flips))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values (Holm 1979): the share of false alarms among all comparisons stays below them.

    The i-th smallest of m is multiplied by m - i + 1, never below the one before it, at most 1.
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for done, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, p_values[place] * (len(p_values) - done)))
        adjusted[place] = largest
    return adjusted
