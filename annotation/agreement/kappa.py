"""Cohen's kappa of two raters, plain and quadratic (Cohen 1960, 1968), and of all pairs in row order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from annotation.agreement.figures import Figure, Flags, Floats
from annotation.agreement.labels import Labels
from annotation.agreement.reliability import values_of
from annotation.agreement.sample import Draws, Sample
from annotation.agreement.statistic import Statistic, measure, ratio

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


def kappas(sample: Sample, draws: Draws, labels: Labels, weights: Floats) -> tuple[tuple[Kappa, ...], int]:
    """Every two raters with a pair in common, the most in common first; and how many twos are left out."""
    given = ~np.isnan(labels.values) & (weights != 0)[:, None]
    shared = given.T.astype(np.int64) @ given.astype(np.int64)
    twos = [(int(shared[one, two]), one, two) for one, two in combinations(range(len(labels.raters)), 2)]
    found = sorted((two for two in twos if two[0]), key=lambda two: (-two[0], two[1:]))
    scale = values_of(labels.values)
    statistics = {}
    for _, one, two in found[:MOST_PAIRS]:
        columns = sample.sums(crossed(labels.values[:, one], labels.values[:, two], scale, weights))
        for name, quadratic in (("kappa", False), ("quadratic", True)):
            statistics[one, two, name] = kappa_statistic(columns, scale, quadratic)
    made = measure(draws, statistics)
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


def crossed(first: Floats, second: Floats, scale: Floats, weights: Floats) -> Floats:
    """For each value of the first and of the second rater, whether a pair has both: pairs × values²."""
    ones: Flags = first[:, None] == scale
    twos: Flags = second[:, None] == scale
    cells = ones[:, :, None] & twos[:, None, :]
    return weights[:, None] * cells.reshape(len(first), -1)


def kappa_statistic(columns: Floats, scale: Floats, quadratic: bool) -> Statistic:
    """Kappa from the cells of `crossed`, by query."""
    apart = (scale[:, None] - scale) ** 2 if quadratic else scale[:, None] != scale
    return Statistic(columns, lambda sums: kappa_of(sums, np.asarray(apart, dtype=np.float64)), NO_KAPPA)


def kappa_of(sums: Floats, apart: Floats) -> Floats:
    """1 − observed ÷ expected disagreement, each cell counting as far as its values are apart."""
    size = len(apart)
    table = sums.reshape(*sums.shape[:-1], size, size)
    seen = (table * apart).sum(axis=(-2, -1)) * table.sum(axis=(-2, -1))
    rows, columns = table.sum(axis=-1), table.sum(axis=-2)
    expected = (rows[..., :, None] * columns[..., None, :] * apart).sum(axis=(-2, -1))
    return 1 - ratio(seen, expected)


def in_row_order(values: Floats, scale: Floats) -> Floats:
    """Pairs × values²: every two labels of a pair, the left one first. A pair with six labels has fifteen
    twos, and so counts fifteen times (CodeSearchNet's way; order is arbitrary where no rater is named).
    """
    size = len(scale)
    found = np.zeros((len(values), size * size))
    for first, second in combinations(range(values.shape[1]), 2):
        found += crossed(values[:, first], values[:, second], scale, np.ones(len(values)))
    return found


def symmetrised(columns: Floats, size: int) -> Floats:
    """The same with each two counted in both orders, so that no order matters."""
    tables = columns.reshape(len(columns), size, size)
    return ((tables + tables.transpose(0, 2, 1)) / 2).reshape(columns.shape)
