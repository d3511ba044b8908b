"""Measures of all queries at once, from the rank of each judged pair: the same numbers as `names`, in arrays.

For whoever measures the same lists again and again under other labels, as draws of label noise do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from retrieval.metrics.binary import MMRR_CUT

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
EVERYTHING = np.iinfo(np.int64).max


class NotFromRanks(ValueError):
    """The measure needs more than the ranks of judged pairs; the message lists those that do not."""


@dataclass(frozen=True)
class Ranked:
    """Judged pairs in the order of (query, rank): the query of each, by its number from 0 on, and its rank.

    Ranks count from 1; `EVERYTHING` for a pair that the list lacks. `order` leads here from the pairs' own
    order: labels[order] are the labels of these.
    """

    query: Ints
    rank: Ints
    order: Ints
    queries: int

    @classmethod
    def of(cls, query: Ints, rank: Ints, queries: int) -> Ranked:
        """Sort pairs of these queries; a rank of 0 stands for a pair that is not found."""
        found = np.where(rank > 0, rank, EVERYTHING)
        order = np.lexsort((found, query))
        return cls(query[order], found[order], order, queries)

    @cached_property
    def discount(self) -> Doubles:
        """1 / log2(rank + 1), 0 for what is not found."""
        discount: Doubles = 1 / np.log2(np.minimum(self.rank, 2**52) + 1.0)
        return np.where(self.rank < EVERYTHING, discount, 0.0)


@dataclass(frozen=True)
class _Given:
    """Pairs with relevances, shape (pairs,), in the order of `ranked`."""

    ranked: Ranked
    relevance: Doubles

    @cached_property
    def matches(self) -> npt.NDArray[np.bool_]:
        return self.relevance > 0

    @cached_property
    def positives(self) -> Ints:
        """Matches of each query, found or not, shape (queries,)."""
        return np.bincount(self.ranked.query[self.matches], minlength=self.ranked.queries)

    @cached_property
    def before(self) -> Ints:
        """For each pair: matches of its query up to it, itself included."""
        running = np.cumsum(self.matches)
        ends = np.cumsum(self.positives) - self.positives
        return running - ends[self.ranked.query]

    def summed(self, values: Doubles, k: int) -> Doubles:
        """The sum of `values` over each query's matches among the first k."""
        kept = self.matches & (self.ranked.rank <= k) & (self.ranked.rank < EVERYTHING)
        return _sums(self.ranked.query[kept], values[kept], self.ranked.queries)

    @property
    def ones(self) -> Doubles:
        return np.ones(len(self.relevance))

    @property
    def inverse(self) -> Doubles:
        return 1.0 / self.ranked.rank


def per_query(measure: str, ranked: Ranked, relevance: Doubles) -> Doubles:
    """The measure of each query, shape (queries,), NaN where it has no match.

    `relevance`: of each judged pair in its own order, a match above 0. Raises `NotFromRanks`.
    """
    family, _, cut = measure.partition("@")
    if family not in FAMILIES:
        raise NotFromRanks(f"{measure}: choose one of {', '.join(FAMILIES)}, with @k or without")
    given = _Given(ranked, relevance[ranked.order])
    k = int(cut) if cut else (MMRR_CUT if family == "mmrr" else EVERYTHING)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = FAMILIES[family](given, k)
    return np.where(given.positives > 0, values, np.nan)


def is_from_ranks(measure: str) -> bool:
    """Whether `per_query` knows the measure."""
    return measure.partition("@")[0] in FAMILIES


def _mrr(given: _Given, k: int) -> Doubles:
    return given.summed(np.where(given.before == 1, given.inverse, 0.0), k)


def _map_sum(given: _Given, k: int) -> Doubles:
    return given.summed(given.before * given.inverse, k)


def _mmrr(given: _Given, k: int) -> Doubles:
    return given.summed(1.0 / (given.ranked.rank - (given.before - 1)), k) / given.positives


def _ndcg(given: _Given, k: int, gain: Callable[[Doubles], Doubles]) -> Doubles:
    gains = np.where(given.matches, gain(given.relevance), 0.0)
    return given.summed(gains * given.ranked.discount, k) / _ideal(given, gains, k)


def _ideal(given: _Given, gains: Doubles, k: int) -> Doubles:
    """DCG@k of each query's judged pairs in their best order."""
    own = gains[given.matches]
    if own.size and own.min() == own.max():  # all matches are alike, so nothing has to be sorted
        most = int(given.positives.max())
        reached = np.concatenate([[0.0], np.cumsum(own[0] / np.log2(np.arange(most) + 2.0))])
        return np.asarray(reached[np.minimum(given.positives, k)])
    order = np.lexsort((-gains, given.ranked.query))
    query = given.ranked.query[order]
    counts = np.bincount(query, minlength=given.ranked.queries)
    place = np.arange(len(query)) - (np.cumsum(counts) - counts)[query]
    kept = place < k
    weights = gains[order][kept] / np.log2(place[kept] + 2.0)
    return _sums(query[kept], weights, given.ranked.queries)


def _sums(query: Ints, values: Doubles, queries: int) -> Doubles:
    return np.bincount(query, weights=values, minlength=queries).astype(np.float64)


FAMILIES: Mapping[str, Callable[[_Given, int], Doubles]] = {
    "ndcg": lambda given, k: _ndcg(given, k, lambda relevance: 2.0**relevance - 1),
    "ndcg_linear": lambda given, k: _ndcg(given, k, lambda relevance: relevance),
    "mrr": _mrr,
    "mmrr": _mmrr,
    "map": lambda given, k: _map_sum(given, k) / given.positives,
    "map_reachable": lambda given, k: _map_sum(given, k) / np.minimum(given.positives, k),
    "recall": lambda given, k: given.summed(given.ones, k) / given.positives,
    "precision": lambda given, k: given.summed(given.ones, k) / k,
    "success": lambda given, k: (given.summed(given.ones, k) > 0).astype(np.float64),
}
