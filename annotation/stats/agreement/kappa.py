"""Cohen's kappa of two raters, plain and quadratic (Cohen 1960, 1968), and of all pairs in row order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from annotation.stats.agreement.figures import Figure, Floats, Ints
from annotation.stats.agreement.labels import Labels
from annotation.stats.agreement.reliability import values_of
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.statistic import Statistic, divide_or_nan, measure_statistics

MOST_PAIRS: Final = 45
"""The pairs of ten raters; of more raters those with the most pairs in common are shown."""
NO_KAPPA: Final = "kappa needs two different values among the pairs that both judged"


@dataclass(frozen=True, slots=True)
class Kappa:
    """Two raters and how far they agree beyond chance on the `common` pairs that both judged."""

    first: str
    second: str
    common: int
    kappa: Figure
    quadratic: Figure


def pairwise_kappas(
    sample: Sample, draws: Draws, labels: Labels, weights: Floats
) -> tuple[tuple[Kappa, ...], int]:
    """Every two raters with a pair in common, the most in common first; and how many twos are left out."""
    given = ~np.isnan(labels.values) & (weights != 0)[:, None]
    shared = given.T.astype(np.int64) @ given.astype(np.int64)
    twos = [(int(shared[one, two]), one, two) for one, two in combinations(range(len(labels.raters)), 2)]
    found = sorted((two for two in twos if two[0]), key=lambda two: (-two[0], two[1:]))
    scale = values_of(labels.values)
    statistics = {}
    for _, one, two in found[:MOST_PAIRS]:
        columns = sample.sums(weights[:, None] * in_row_order(labels.values[:, [one, two]], scale))
        statistics[one, two, "kappa"] = kappa_statistic(columns, scale, quadratic=False)
        statistics[one, two, "quadratic"] = kappa_statistic(columns, scale, quadratic=True)
    made = measure_statistics(draws, statistics)
    rows = (
        Kappa(
            labels.raters[one],
            labels.raters[two],
            common,
            made[one, two, "kappa"].figure,
            made[one, two, "quadratic"].figure,
        )
        for common, one, two in found[:MOST_PAIRS]
    )
    return tuple(rows), max(0, len(found) - MOST_PAIRS)


def in_row_order(values: Floats, scale: Floats) -> Floats:
    """What every two labels of a pair (pairs × labels) add to kappa, the left one as the first rater's: how
    often they differ, how far squared, and how often each value was the first and the second of two.

    A pair with six labels has fifteen twos and so counts fifteen times (CodeSearchNet's way: "all pairs"; the
    order is arbitrary where no rater is named).
    """
    rows, columns = np.nonzero(~np.isnan(values))
    return by_pair(rows, values[rows, columns], scale, len(values))


def by_pair(rows: Ints, values: Floats, scale: Floats, pairs: int) -> Floats:
    """The same from labels one after the other, with the pair (0 and up, rising) of each: it takes as much as
    there are labels, however many of them one pair has.
    """
    now = (values[:, None] == scale).astype(np.float64)
    all_before = now.cumsum(axis=0) - now
    before = all_before - all_before[np.searchsorted(rows, rows)]
    known, passed = now.sum(axis=1), before.sum(axis=1)
    differ = known * passed - (before * now).sum(axis=1)
    far = (before * now.dot((scale[:, None] - scale) ** 2)).sum(axis=1)
    found = np.zeros((pairs, 2 + 2 * len(scale)))
    if len(rows):
        wide = np.column_stack([differ, far, before * known[:, None], now * passed[:, None]])
        firsts = np.flatnonzero(np.diff(rows, prepend=-1))
        found[rows[firsts]] = np.add.reduceat(wide, firsts, axis=0)
    return found


def symmetrize_columns(columns: Floats) -> Floats:
    """The same with each two counted in both orders, so that no order matters."""
    first, second = np.split(columns[:, 2:], 2, axis=1)
    middle = (first + second) / 2
    return np.column_stack([columns[:, :2], middle, middle])


def kappa_statistic(columns: Floats, scale: Floats, quadratic: bool) -> Statistic:
    """Kappa from the columns of `in_row_order`, by query; a difference counts by its square if quadratic."""
    apart = (scale[:, None] - scale) ** 2 if quadratic else (scale[:, None] != scale).astype(np.float64)
    return Statistic(columns, lambda sums: kappa_of(sums, apart, int(quadratic)), NO_KAPPA)


def kappa_of(sums: Floats, apart: Floats, seen: int) -> Floats:
    """1 − observed ÷ expected disagreement, the observed one in column `seen` (last axis)."""
    first, second = np.split(sums[..., 2:], 2, axis=-1)
    expected = (first * (second @ apart)).sum(axis=-1)
    found: Floats = 1 - divide_or_nan(sums[..., seen] * first.sum(axis=-1), expected)
    return found
