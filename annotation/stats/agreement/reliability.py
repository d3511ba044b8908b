"""Krippendorff's alpha and what stands beside it. Pure: no I/O.

Alpha = 1 − observed ÷ expected disagreement (Krippendorff 2011, "Computing Krippendorff's
Alpha-Reliability"). A missing value is no value: a pair counts with the values that it has, and not at all
with fewer than two. Its coincidences add up over pairs, so they add up over queries; a pair that was drawn
with a small probability counts for those that were not drawn (weighted coincidences).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from itertools import combinations
from typing import Final

import numpy as np

from annotation.stats.agreement.figures import Floats, Ints
from annotation.stats.agreement.korn_graubard import effective_sample_size
from annotation.stats.agreement.sample import Sample, scale_weights_to_mean
from annotation.stats.agreement.statistic import Statistic, divide_or_nan, share_of

MOST_VALUES: Final = 20
NO_ALPHA: Final = "alpha needs two different values among the pairs that two raters judged"
NO_TWO: Final = "no pair was judged by two raters"
NO_LABEL: Final = "there is no label"
NO_GWET: Final = "AC1 needs a pair that two raters judged and two values to choose from"


class TooManyValues(ValueError):
    """The labels have more different values than an annotation scale has."""


class Level(StrEnum):
    """What a difference between two values means."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


def alpha_unit_terms(counts: Sequence[int]) -> tuple[float, ...]:
    """What a unit adds to alpha, from how often each value was given: disagreement, then the counts.

    All zeros where fewer than two values were given.
    """
    given = sum(counts)
    if given < 2:
        return (0.0,) * (1 + len(counts))
    return sum(count * (given - count) for count in counts) / (given - 1), *map(float, counts)


def alpha_from_sums(sums: Floats) -> Floats:
    """Nominal alpha from sums of `alpha_unit_terms` (last axis); nan where fewer than two different values
    were given."""
    disagreement, counts = sums[..., 0], sums[..., 1:]
    given = counts.sum(axis=-1)
    expected = given**2 - (counts**2).sum(axis=-1)
    found: Floats = 1 - (given - 1) * divide_or_nan(disagreement, expected)
    return found


def values_of(values: Floats) -> Floats:
    """The different values in rising order. Raises TooManyValues above 20."""
    found = np.unique(values[~np.isnan(values)])
    if len(found) > MOST_VALUES:
        raise TooManyValues(f"{len(found):,} different labels; a scale has at most {MOST_VALUES}")
    return found


def counts_of(values: Floats, scale: Floats) -> Floats:
    """How often each value of the scale was given to each pair: pairs × values."""
    if not len(scale):
        return np.zeros((len(values), 0))
    return np.stack([(values == one).sum(axis=1) for one in scale], axis=1).astype(np.float64)


def counts_by_pair(rows: Ints, values: Floats, scale: Floats, pairs: int) -> Floats:
    """The same from labels one after the other, with the pair of each."""
    places = rows * len(scale) + np.searchsorted(scale, values)
    found = np.bincount(places, minlength=pairs * len(scale))
    return found.reshape(pairs, len(scale)).astype(np.float64)


def coincidence_matrix(counts: Floats, weights: Floats) -> Floats:
    """For each two values how often they met in a pair, then how often each was given (where it met one)."""
    given = counts.sum(axis=1)
    met = np.where(given > 1, weights, 0.0)
    each = met / np.maximum(given - 1, 1)
    columns = [each * counts[:, one] * counts[:, two] for one, two in combinations(range(counts.shape[1]), 2)]
    return np.column_stack([*columns, met[:, None] * counts])


def squared_value_distances(level: Level, scale: Floats, given: Floats) -> Floats:
    """The squared difference of each two values (last axis), by Krippendorff 2011, section F."""
    first, second = np.triu_indices(len(scale), 1)
    if level is Level.NOMINAL:
        return np.ones(len(first))
    if level is Level.INTERVAL:
        return np.asarray((scale[first] - scale[second]) ** 2, dtype=np.float64)
    below = given.cumsum(axis=-1)
    between = below[..., second] - below[..., first] + (given[..., first] - given[..., second]) / 2
    return np.asarray(between**2, dtype=np.float64)


def alpha_of(sums: Floats, level: Level, scale: Floats) -> Floats:
    """Alpha from sums of `coincidence_matrix` (last axis); nan where fewer than two different values met."""
    first, second = np.triu_indices(len(scale), 1)
    met, given = sums[..., : len(first)], sums[..., len(first) :]
    far = squared_value_distances(level, scale, given)
    expected = (given[..., first] * given[..., second] * far).sum(axis=-1)
    found: Floats = 1 - (given.sum(axis=-1) - 1) * divide_or_nan((met * far).sum(axis=-1), expected)
    return found


def krippendorff_alphas(
    sample: Sample, values: Floats, weights: Floats, levels: Sequence[Level] = tuple(Level)
) -> dict[Level, Statistic]:
    """Alpha of pairs × raters (nan: no value) at each level; the levels share their columns."""
    kinds = values_of(values)
    return alphas_of(sample, counts_of(values, kinds), weights, kinds, levels)


def alphas_of(
    sample: Sample, counts: Floats, weights: Floats, scale: Floats, levels: Sequence[Level] = tuple(Level)
) -> dict[Level, Statistic]:
    """The same from how often each value of the scale was given to each pair."""
    columns = sample.sums(coincidence_matrix(counts, scale_weights_to_mean(weights)))
    return {
        level: Statistic(columns, partial(alpha_of, level=level, scale=scale), NO_ALPHA) for level in levels
    }


def nominal_alpha(sample: Sample, values: Floats, weights: Floats) -> Statistic:
    """Nominal alpha alone."""
    return krippendorff_alphas(sample, values, weights, (Level.NOMINAL,))[Level.NOMINAL]


def percent_agreement(sample: Sample, values: Floats, weights: Floats) -> Statistic:
    """Percent agreement: of two raters of one pair, how often both gave one value."""
    return alike_of(sample, counts_of(values, values_of(values)), weights)


def alike_of(sample: Sample, counts: Floats, weights: Floats) -> Statistic:
    """The same from how often each value was given to each pair."""
    same, met = weigh_pair_agreement(counts, weights)
    return share_of(sample.sums(np.column_stack([same, met])), NO_TWO, pairs=effective_sample_size(met))


def weigh_pair_agreement(counts: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """For each pair that two judged: the weighted share of its twos that agree, and its weight."""
    given = counts.sum(axis=1)
    met = np.where(given > 1, weights, 0.0)
    same = (counts * (counts - 1)).sum(axis=1) / np.maximum(given * (given - 1), 1)
    return met * same, met


def match_prevalence(sample: Sample, matches: Floats, weights: Floats) -> Statistic:
    """The share of label 1 among the labels of a pair, averaged over the pairs that have one."""
    given = (~np.isnan(matches)).sum(axis=1)
    ones = (matches == 1).sum(axis=1) / np.maximum(given, 1)
    judged = np.where(given > 0, weights, 0.0)
    columns = sample.sums(np.column_stack([judged * ones, judged]))
    plain = matches.shape[1] == 1 and sample.alone(judged)
    return share_of(columns, NO_LABEL, plain, pairs=effective_sample_size(judged))


def gwet_ac1(sample: Sample, values: Floats, weights: Floats) -> Statistic:
    """Gwet's AC1 (Gwet 2008, BJMSP 61:29): agreement by chance happens only where a rater guesses."""
    scale = values_of(values)
    counts = counts_of(values, scale)
    same, met = weigh_pair_agreement(counts, weights)
    given = counts.sum(axis=1)
    judged = np.where(given > 0, weights, 0.0)
    shares = judged[:, None] * counts / np.maximum(given, 1)[:, None]
    columns = sample.sums(np.column_stack([same, met, judged, shares]))
    return Statistic(columns, lambda sums: ac1(sums, len(scale)), NO_GWET)


def ac1(sums: Floats, values: int) -> Floats:
    """AC1 from sums of agreement, its weight, all weight and the shares of each value (last axis)."""
    if values < 2:
        return np.full(sums.shape[:-1], np.nan)
    seen = divide_or_nan(sums[..., 3:], sums[..., 2, None])
    chance = (seen * (1 - seen)).sum(axis=-1) / (values - 1)
    return divide_or_nan(divide_or_nan(sums[..., 0], sums[..., 1]) - chance, 1 - chance)


def one_sided(sample: Sample, values: Floats, weights: Floats) -> float:
    """The share of the most frequent value among all labels, 0 to 1."""
    counts = counts_of(values, values_of(values))
    given = (weights[:, None] * counts).sum(axis=0)
    return float(given.max() / given.sum()) if given.sum() else 0.0
