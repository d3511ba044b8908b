"""From a sample to all labels of a build: the stratified prediction-powered estimate.

The annotator's label of every pair is known, people's only for the sample. In each stratum the sample's mean
is moved by what its share of label 1 differs from the stratum's, as far as labels say something of the
value (λ): Fisch et al. 2024 (arXiv 2406.04291); λ as in Angelopoulos, Duchi and Zrnic 2023 (2311.01453).
With λ = 0 it is the plain stratified mean, so it is never much worse than that one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from annotation.stats.agreement.figures import EXACT, Figure, Flags, Floats
from annotation.stats.agreement.korn_graubard import (
    FEW_EXCEPTIONS,
    effective_sample_size,
    exact_share_interval,
)
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.statistic import (
    Drawn,
    Statistic,
    describe_rule_of_three,
    divide_or_nan,
    measure_statistics,
)
from annotation.stats.intervals import clopper_pearson

NO_STRATUM: Final = "a stratum of the build has no judged pair in the sample, so nothing is known of it"


@dataclass(frozen=True, slots=True)
class Stratum:
    """A stratum of the build: its number in the sample, all its labelled pairs, and those with label 1."""

    number: int
    pairs: int
    matches: int


@dataclass(frozen=True, slots=True)
class Whole:
    """What holds for all `pairs` that the annotator labelled: the share of wrong labels and of true matches.

    `judged` pairs of the sample have a reference; `plain_error` is without the help of the labels.
    """

    annotator: str
    pairs: int
    judged: int
    error: Figure
    plain_error: Figure
    prevalence: Figure


def estimate_whole_build(
    sample: Sample,
    draws: Draws,
    name: str,
    labels: Floats,
    truth: Floats,
    strata: tuple[Stratum, ...],
) -> Whole:
    """The annotator's 0/1 labels of the sample (nan: none) against the reference (nan: none)."""
    known = ~(np.isnan(labels) | np.isnan(truth))
    wrong = np.where(known, np.abs(labels - truth), 0.0)
    statistics = {
        "error": prediction_powered_mean(sample, wrong, labels, known, strata),
        "plain_error": prediction_powered_mean(sample, wrong, np.zeros(len(sample)), known, strata),
        "prevalence": prediction_powered_mean(sample, np.where(known, truth, 0.0), labels, known, strata),
    }
    drawn = measure_statistics(draws, statistics)
    figures = {key: statistic.figure for key, statistic in drawn.items()}
    counted = np.where(known, sample.weights, 0.0)
    errors = int(np.count_nonzero(sample.sums((counted * wrong)[:, None])))
    if errors < FEW_EXCEPTIONS:
        bounded = few_errors if errors else no_error
        figures |= {key: bounded(drawn[key], sample, counted) for key in ("error", "plain_error")}
    return Whole(name, sum(stratum.pairs for stratum in strata), int(known.sum()), **figures)


def no_error(found: Drawn, sample: Sample, weights: Floats) -> Figure:
    """Without a wrong label all draws are alike: the bound of as many right queries, by their weights."""
    told, many = found.figure, effective_sample_size(sample.sums(weights[:, None])[:, 0])
    if told.value is None:
        return told
    bound = clopper_pearson(0, many)[1]
    return Figure(0.0, 0.0, bound, 0.0, told.queries, describe_rule_of_three(0, round(many)), EXACT)


def few_errors(found: Drawn, sample: Sample, weights: Floats) -> Figure:
    """Where few queries have a wrong label: the exact interval, as of other shares."""
    told = found.figure
    if told.value is None or told.low is None:
        return told
    value = min(max(told.value, 0.0), 1.0)
    low, high = exact_share_interval(
        value, found.deviation**2, effective_sample_size(weights), told.queries, found.strata
    )
    return replace(told, low=low, high=high, method=EXACT)


def prediction_powered_mean(
    sample: Sample, values: Floats, labels: Floats, known: Flags, strata: tuple[Stratum, ...]
) -> Statistic:
    """The mean of the values over all pairs of the strata, with the labels' help.

    Inside a stratum pairs weigh 1 ÷ inclusion probability (Hájek): where queries put one forward it differs.
    """
    columns = []
    for stratum in strata:
        chosen = np.where(known & (sample.strata == stratum.number), sample.weights, 0.0)
        label = np.nan_to_num(labels)
        columns += [chosen, chosen * values, chosen * label, chosen * values * label]
    pairs = np.array([stratum.pairs for stratum in strata], dtype=np.float64)
    ones = np.array([stratum.matches / stratum.pairs if stratum.pairs else 0.0 for stratum in strata])
    return Statistic(
        sample.sums(np.column_stack(columns)), lambda sums: stratified_estimate(sums, pairs, ones), NO_STRATUM
    )


def stratified_estimate(sums: Floats, pairs: Floats, ones: Floats) -> Floats:
    """From count, sum of values, of labels and of their product in each stratum; nan where one is empty."""
    parts = sums.reshape(*sums.shape[:-1], len(pairs), 4)
    many = parts[..., 0]
    value, label, product = (divide_or_nan(parts[..., place], many) for place in (1, 2, 3))
    spread = label * (1 - label)
    slope = np.where(spread > 0, (product - value * label) / np.where(spread > 0, spread, 1), 0.0)
    each = np.where(pairs > 0, value + slope * (ones - label), 0.0)
    found: Floats = (each * pairs).sum(axis=-1) / max(pairs.sum(), 1.0)
    return found
