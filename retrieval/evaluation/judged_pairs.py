"""Judged pairs of a benchmark as arrays, and the ranks that runs give them: some 24 bytes a pair and run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from retrieval.evaluation.content import Content
from retrieval.metrics.from_ranks import Ranked
from retrieval.models import RankedList, Run
from retrieval.models.benchmarks import query_key

ROWS_A_READ = 500
Ints = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class JudgedPairs:
    """Judged pairs by query, shape (pairs,): the query's number in the benchmark, the snippet's place, what
    was said. `numbers` has the number of each query by its key.
    """

    query: Ints
    place: Ints
    relevance: Doubles
    numbers: Mapping[int, int]

    @classmethod
    def of(cls, content: Content) -> JudgedPairs:
        """All judged pairs of a benchmark, ascending by query and place."""
        rows = [
            (number, place, relevance)
            for number, query in enumerate(content.queries)
            for place, relevance in sorted(content.judged(query).items())
        ]
        table = np.array(rows, dtype=np.float64).reshape(len(rows), 3)
        numbers = {query: number for number, query in enumerate(content.queries)}
        return cls(table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2], numbers)

    @property
    def queries(self) -> int:
        return len(self.numbers)

    def without(self, dropped: Mapping[int, Ints]) -> JudgedPairs:
        """The pairs but for `dropped` places, by number of a query."""
        left = np.ones(len(self.query), dtype=bool)
        for number, places in dropped.items():
            first, last = np.searchsorted(self.query, [number, number + 1])
            left[first:last] = ~np.isin(self.place[first:last], places)
        return JudgedPairs(self.query[left], self.place[left], self.relevance[left], self.numbers)

    def ranked(self, run: Run, dropped: Mapping[int, Ints] = MappingProxyType({})) -> Ranked:
        """The pairs with their ranks in the run's lists, without `dropped` places, by query."""
        starts = np.searchsorted(self.query, np.arange(self.queries + 1))
        ranks = np.zeros(len(self.query), dtype=np.int64)
        rows = RankedList.objects.filter(run=run).values_list("query_id", "alias", "data")
        for query, alias, data in rows.iterator(ROWS_A_READ):
            number = self.numbers.get(query_key(query, alias))
            if number is not None:
                own = slice(starts[number], starts[number + 1])
                listed = np.frombuffer(bytes(data), "<u4")
                if number in dropped:
                    listed = listed[~np.isin(listed, dropped[number])]
                ranks[own] = ranks_in(listed, self.place[own])
        return Ranked.of(self.query, ranks, self.queries)


def ranks_in(listed: npt.NDArray[np.uint32], wanted: Ints) -> Ints:
    """The rank, from 1, of each wanted place in a list; 0 where the list lacks it."""
    if not len(listed) or not len(wanted):
        return np.zeros(len(wanted), dtype=np.int64)
    order = np.argsort(listed, kind="stable")
    at = np.minimum(np.searchsorted(listed, wanted, sorter=order), len(listed) - 1)
    found = order[at]
    return np.where(listed[found] == wanted, found + 1, 0)
