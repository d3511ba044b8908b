"""The pairs of a study as they were drawn, and the draws that all figures of a page share.

Pairs of one query are not independent, so whole queries are resampled with all their pairs (Field and Welsh
2007, JRSS-B 69:369), inside the strata that they were drawn from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from annotation.stats.agreement.figures import Floats, Ints
from retrieval.metrics.resampling import AGREEMENT_SEED, RESAMPLES, draw_within_groups

EVEN: Final = 1e-9
"""Weights that differ by less are alike: they are quotients."""
BLOCK: Final = 4_000_000
"""Numbers held at once while queries are drawn: 32 MB."""


class BadSample(ValueError):
    """The pairs cannot be a sample; the text says why."""


@dataclass(frozen=True, eq=False)
class Sample:
    """One number a pair: its query, its inclusion probability (above 0, at most 1) and its stratum.

    Raises BadSample where the lengths differ or a probability is none.
    """

    queries: Ints
    chances: Floats
    strata: Ints

    def __post_init__(self) -> None:
        if not len(self.queries) == len(self.chances) == len(self.strata):
            raise BadSample("every pair needs a query, an inclusion probability and a stratum")
        if not ((self.chances > 0) & (self.chances <= 1)).all():
            raise BadSample("an inclusion probability lies above 0 and is at most 1")

    @classmethod
    def of(
        cls, queries: ArrayLike, chances: ArrayLike | None = None, strata: ArrayLike | None = None
    ) -> Sample:
        """A sample; without probabilities or strata all pairs are alike."""
        given = np.asarray(queries, dtype=np.int64)
        return cls(
            given,
            np.ones(len(given)) if chances is None else np.asarray(chances, dtype=np.float64),
            np.zeros(len(given), dtype=np.int64) if strata is None else np.asarray(strata, dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.queries)

    @cached_property
    def cluster(self) -> Ints:
        """The number of each pair's query, 0 and up."""
        return np.unique(self.queries, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def size(self) -> int:
        """How many queries there are."""
        return int(self.cluster.max(initial=-1)) + 1

    @cached_property
    def weights(self) -> Floats:
        """One over the inclusion probability, 1 on average (Hájek: only their ratios matter)."""
        return scale_weights_to_mean(1 / self.chances)

    @cached_property
    def stratum(self) -> Ints:
        """The stratum of each query: that of most of its pairs, and of those the smallest."""
        if not len(self):
            return np.zeros(0, dtype=np.int64)
        kinds, codes = np.unique(self.strata, return_inverse=True)
        pairs = np.zeros((self.size, len(kinds)))
        np.add.at(pairs, (self.cluster, codes), 1)
        most: Ints = pairs.argmax(axis=1).astype(np.int64)
        return most

    def sums(self, columns: Floats) -> Floats:
        """Rows of pairs, added up by query."""
        if not len(self):
            return np.zeros((0, columns.shape[1]))
        order, starts = self.runs
        return np.add.reduceat(columns[order], starts, axis=0)

    @cached_property
    def runs(self) -> tuple[Ints, Ints]:
        """The pairs ordered by query, and where each query begins."""
        order = np.argsort(self.cluster, kind="stable")
        return order, np.searchsorted(self.cluster[order], np.arange(self.size))

    def alone(self, weights: Floats) -> bool:
        """Whether the pairs that count, count alike and each belongs to another query."""
        counted = weights[weights != 0]
        spread = np.bincount(self.cluster[weights != 0]).max(initial=0) <= 1
        return bool(spread and (counted.size == 0 or np.ptp(counted) <= EVEN * counted[0]))


def scale_weights_to_mean(weights: Floats) -> Floats:
    """The weights with the mean 1 over those that are not 0."""
    counted = np.count_nonzero(weights)
    return weights * (counted / weights.sum()) if counted else weights


@dataclass(frozen=True, eq=False)
class Draws:
    """How often each query counts in each draw: the same for the same strata, size and seed."""

    strata: Ints
    size: int = RESAMPLES
    seed: int = AGREEMENT_SEED

    @classmethod
    def of(cls, sample: Sample) -> Draws:
        return cls(sample.stratum)

    @classmethod
    def even(cls, queries: int) -> Draws:
        """Draws of so many queries of one stratum."""
        return cls(np.zeros(queries, dtype=np.int64))

    def sums(self, clusters: Floats) -> Floats:
        """Draws × columns: the columns' sums in each draw, as one matrix product (in blocks, if large).

        Of columns that are alike one is added up: the rows of a table share many. Each column lies in one
        piece, as what is made of them adds and divides whole columns.
        """
        if self.step < self.size:
            return np.concatenate([counts @ clusters for counts in self.blocks()])
        columns = {column.tobytes(): column for column in clusters.T}
        wide = np.reshape(list(columns.values()), (len(columns), len(clusters)))
        made = dict(zip(columns, wide @ self.counts.T, strict=True))
        found = [made[column.tobytes()] for column in clusters.T]
        return np.reshape(found, (len(found), self.size)).T

    @property
    def step(self) -> int:
        """How many draws are held at once."""
        return max(1, BLOCK // max(1, len(self.strata)))

    @cached_property
    def counts(self) -> Floats:
        """Draws × queries, of a sample small enough to keep it. Not to be written to: others have it, too."""
        return cache_study_draws(self.strata.tobytes(), self.size, self.seed)

    def blocks(self) -> Iterator[Floats]:
        """The blocks one after another, so that a build's 20,000 queries need no 160 MB."""
        generator = np.random.default_rng(self.seed)
        for first in range(0, self.size, self.step):
            yield draw_within_groups(generator, self.groups, min(self.step, self.size - first))

    @cached_property
    def groups(self) -> list[Ints]:
        """The queries of each stratum; one that is alone in its stratum joins the next one."""
        kinds = [np.flatnonzero(self.strata == kind) for kind in np.unique(self.strata)]
        found: list[Ints] = []
        for members in sorted(kinds, key=len):
            if found and len(found[-1]) == 1:
                members = np.concatenate([found.pop(), members])
            found.append(members)
        if len(found) > 1 and len(found[-1]) == 1:
            found[-2:] = [np.concatenate(found[-2:])]
        return found


@lru_cache(maxsize=2)
def cache_study_draws(strata: bytes, size: int, seed: int) -> Floats:
    """The draws of the studies that were looked at last: another rating changes no draw. 64 MB at most."""
    found = next(Draws(np.frombuffer(strata, dtype=np.int64), size, seed).blocks())
    found.flags.writeable = False
    return found
