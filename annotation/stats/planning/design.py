"""The sample that a plan draws, as far as its figures care: weights, strata, and what labels they have.

Where strata are drawn by what the annotator said, matches are more frequent than in the build and weigh less.
A made-up study then has the labels first, as they are known at the draw: its queries are those that such
labels come from, and the truth follows from both (Bayes).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from annotation.stats.agreement.figures import Floats, Ints
from annotation.stats.agreement.sample import Sample, scale_weights_to_mean

POOL: Final = 5000
"""Made-up queries that those of a study are chosen from."""
ORDER: Final = 20241


@dataclass(frozen=True, eq=False)
class Design:
    """Of each pair of a draw: its inclusion probability, its stratum, and the share of label 1 that the
    annotator gave in that stratum; nan where that is not known.
    """

    chances: Floats
    strata: Ints
    ones: Floats

    @classmethod
    def of(cls, chances: ArrayLike, strata: ArrayLike, ones: ArrayLike) -> Design:
        """The shares count only where there are strata: else labels are as frequent as the rates say."""
        kinds = np.asarray(strata, dtype=np.int64)
        known = np.asarray(ones, dtype=np.float64)
        several = np.unique(kinds).size > 1
        return cls(
            np.asarray(chances, dtype=np.float64), kinds, known if several else np.full(len(kinds), np.nan)
        )

    @cached_property
    def weights(self) -> Floats:
        return scale_weights_to_mean(1 / self.chances)

    @property
    def effective(self) -> float:
        """The part of the pairs that equal weights would need for an interval as short (Kish 1965)."""
        return float(self.weights.sum() ** 2 / (self.weights**2).sum() / len(self.weights))

    @property
    def matches(self) -> float | None:
        """The share of label 1 in the build, from strata and weights; None where it is not known."""
        known = ~np.isnan(self.ones)
        return float(np.average(self.ones[known], weights=self.weights[known])) if known.any() else None

    def prevalence(self, assumed: float, accuracy: float) -> float:
        """The share of true matches that gives the build's share of label 1; else the assumed one."""
        if self.matches is None or accuracy <= 0.5:
            return assumed
        return float(np.clip((self.matches - (1 - accuracy)) / (2 * accuracy - 1), 0.001, 0.999))

    def sample(self, pairs: int, per_query: int) -> tuple[Sample, Floats]:
        """So many pairs that lie in strata and weigh as those of the draw do, and their shares of label 1."""
        order = np.lexsort((self.chances, self.strata))
        places = order[((np.arange(pairs) + 0.5) * len(order) / pairs).astype(np.int64)]
        if per_query > 1:  # a query has pairs of several strata
            places = np.random.default_rng(ORDER).permutation(places)
        queries = np.arange(pairs) // per_query
        return Sample.of(queries, self.chances[places], self.strata[places]), self.ones[places]


@dataclass(frozen=True, eq=False)
class LabelsFirst:
    """Labels of a sample's pairs (nan: none yet), what is true of them, and their queries in the pool."""

    labels: Floats
    truth: Floats
    queries: Ints


def labels_first(
    sample: Sample, ones: Floats, matches: Floats, misses: Floats, generator: np.random.Generator
) -> LabelsFirst:
    """The labels by the shares of label 1, then from the pool the queries and the truth that they come from.

    `matches` and `misses`: of each query of the pool the share of matches, and of wrong labels.
    """
    labels = np.where(np.isnan(ones), np.nan, generator.random(len(ones)) < ones)
    queries = choose_pool_queries(sample, labels, matches + misses - 2 * matches * misses, generator)
    pairs = queries[sample.cluster]
    true = true_where(labels, matches[pairs], misses[pairs])
    truth = (generator.random(len(sample)) < true).astype(np.float64)
    return LabelsFirst(labels, truth[:, None], queries)


def choose_pool_queries(sample: Sample, labels: Floats, says: Floats, generator: np.random.Generator) -> Ints:
    """For each query of the sample one of the pool, as likely as its pairs have these labels there.

    `says`: how often the annotator says 1 in each query of the pool.
    """
    kinds = sample.sums(np.column_stack([labels == 1, labels == 0]).astype(np.float64))
    found = np.zeros(sample.size, dtype=np.int64)
    for one, zero in np.unique(kinds, axis=0):
        members = np.flatnonzero((kinds == (one, zero)).all(axis=1))
        likely = says**one * (1 - says) ** zero
        likely = likely if likely.any() else np.ones(len(says))
        found[members] = generator.choice(len(says), len(members), p=likely / likely.sum())
    return found


def true_where(labels: Floats, matches: Floats, wrong: Floats) -> Floats:
    """How often a pair is a match whose query has these rates, and where the annotator said this."""
    yes, no = matches * (1 - wrong), (1 - matches) * wrong
    after_one, after_zero = divide_or_half(yes, yes + no), divide_or_half(matches - yes, 1 - yes - no)
    return np.where(np.isnan(labels), matches, np.where(labels == 1, after_one, after_zero))


def divide_or_half(part: Floats, whole: Floats) -> Floats:
    """`part` ÷ `whole`; a half where that can't be."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), 0.5)
