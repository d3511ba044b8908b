"""How far the raters of a condition agree, how conditions differ, and what one annotator more changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from annotation.stats.agreement.figures import Figure, Floats
from annotation.stats.agreement.kappa import Kappa, pairwise_kappas
from annotation.stats.agreement.labels import Labels
from annotation.stats.agreement.reliability import (
    Level,
    gwet_ac1,
    krippendorff_alphas,
    match_prevalence,
    nominal_alpha,
    one_sided,
    percent_agreement,
)
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.statistic import Statistic, measure_statistics

ONE_SIDED: Final = 0.9
"""Above this share of one value alpha falls however well raters agree, and AC1 stands beside it."""
FEW_RATERS: Final = "only two raters: without one nothing is left to agree"
NO_VALUE: Final = "without one of the raters alpha has no value"


@dataclass(frozen=True, slots=True)
class Range:
    """The lowest and the highest alpha without one rater: a range for these raters, not an interval."""

    low: float | None
    high: float | None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Reliability:
    """The agreement of one condition's raters on their own scale. The plan asks for `planned` labels (pairs
    × raters); where one more rater is asked there can be more. `with_two` pairs have two labels or more;
    `gwet` is there where one value has more than 90 % of the labels (`largest`); `kappas_left_out` twos of
    raters are not shown. `plus` is nominal alpha of match or not, of the people and one annotator more.
    """

    name: str
    pairs: int
    raters: int
    labels: int
    planned: int
    skipped: int
    with_two: int
    prevalence: Figure
    largest: float
    alike: Figure
    alpha: Mapping[Level, Figure]
    gwet: Figure | None
    without_one: Range
    plus: Mapping[str, Figure]
    kappas: tuple[Kappa, ...]
    kappas_left_out: int


@dataclass(frozen=True, slots=True)
class AlphaDifference:
    """Nominal alpha of the first condition minus that of the second, on the `pairs` that two raters judged in
    both; alphas of other pairs or another prevalence say nothing about each other.
    """

    first: str
    second: str
    pairs: int
    alphas: tuple[Figure, Figure]
    prevalences: tuple[Figure, Figure]
    difference: Figure


def measure_reliability(
    sample: Sample, draws: Draws, labels: Labels, weights: Floats, at: float, more: Sequence[Labels] = ()
) -> Reliability:
    """Everything about one condition; `at` is the lowest value that is a match."""
    matches = labels.matches(at)
    given = (~np.isnan(labels.values))[weights != 0]
    largest = one_sided(sample, labels.values, weights)
    statistics: dict[str | Level | tuple[str, str], Statistic] = {
        "prevalence": match_prevalence(sample, matches.values, weights),
        "alike": percent_agreement(sample, labels.values, weights),
        **dict(krippendorff_alphas(sample, labels.values, weights).items()),
        **{
            ("plus", one.name): alpha_with_annotator(sample, matches, one.matches(at), weights)
            for one in more
        },
    }
    if largest > ONE_SIDED:
        statistics["gwet"] = gwet_ac1(sample, labels.values, weights)
    figures = {key: statistic.figure for key, statistic in measure_statistics(draws, statistics).items()}
    rows, left = pairwise_kappas(sample, draws, labels, weights)
    return Reliability(
        name=labels.name,
        pairs=int((weights != 0).sum()),
        raters=int(given.any(axis=0).sum()),
        labels=int(given.sum()),
        planned=int((weights != 0).sum()) * labels.quorum,
        skipped=int(labels.skipped[weights != 0].sum()),
        with_two=int((given.sum(axis=1) > 1).sum()),
        prevalence=figures["prevalence"],
        largest=largest,
        alike=figures["alike"],
        alpha={level: figures[level] for level in Level},
        gwet=figures.get("gwet"),
        without_one=without_one(sample, labels, weights),
        plus={one.name: figures["plus", one.name] for one in more},
        kappas=rows,
        kappas_left_out=left,
    )


def alpha_with_annotator(sample: Sample, people: Labels, annotator: Labels, weights: Floats) -> Statistic:
    """Nominal alpha of the people and the annotator, on the pairs that two people judged."""
    judged = (~np.isnan(people.values)).sum(axis=1) > 1
    return nominal_alpha(sample, np.hstack([people.values, annotator.values]), np.where(judged, weights, 0.0))


def without_one(sample: Sample, labels: Labels, weights: Floats) -> Range:
    """Nominal alpha without each rater in turn: of those who gave a label, as others change nothing."""
    rated = np.flatnonzero(~np.isnan(labels.values[weights != 0]).all(axis=0))
    if len(rated) < 3:
        return Range(None, None, words=FEW_RATERS)
    found = []
    for rater in rated:
        alpha = nominal_alpha(sample, np.delete(labels.values, rater, axis=1), weights)
        found.append(float(alpha.of(alpha.columns.sum(axis=0))))
    return Range(None, None, words=NO_VALUE) if np.isnan(found).any() else Range(min(found), max(found))


def alpha_difference(
    sample: Sample, draws: Draws, first: Labels, second: Labels, weights: Floats, at: float
) -> AlphaDifference:
    """Two conditions on the pairs that they share, over the same draws."""
    one, two = first.matches(at), second.matches(at)
    both = [(~np.isnan(labels.values)).sum(axis=1) > 1 for labels in (one, two)]
    shared = np.where(both[0] & both[1], weights, 0.0)
    mine, theirs = (nominal_alpha(sample, labels.values, shared) for labels in (one, two))
    made = measure_statistics(
        draws,
        {
            "first": mine,
            "second": theirs,
            "difference": mine.minus(theirs),
            "one": match_prevalence(sample, one.values, shared),
            "two": match_prevalence(sample, two.values, shared),
        },
    )
    return AlphaDifference(
        first.name,
        second.name,
        int((shared != 0).sum()),
        (made["first"].figure, made["second"].figure),
        (made["one"].figure, made["two"].figure),
        made["difference"].figure,
    )
