"""CodeSearchNet's NDCG *within* and *all*, and its coverage (arXiv 1909.09436, §3.1; its `relevanceeval.py`).

Several experts may have rated a snippet: its relevance is their mean, a fraction, and is never rounded.
`found` and `judged` are as in `retrieval.metrics.graded_relevance`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

from retrieval.metrics.graded_relevance import dcg, exponential, refuse_unjudged
from retrieval.metrics.ranking import Ranking

Query = TypeVar("Query", bound=Hashable)
Item = TypeVar("Item", bound=Hashable)

PREDICTIONS_READ = 300
"""Results of a query and language beyond this one are not read."""


def mean_relevances(ratings: Iterable[tuple[Query, Item, float]]) -> dict[Query, dict[Item, float]]:
    """The mean of all ratings of each (query, item)."""
    given: defaultdict[Query, defaultdict[Item, list[float]]] = defaultdict(lambda: defaultdict(list))
    for query, item, relevance in ratings:
        given[query][item].append(relevance)
    return {query: {item: fmean(all_of) for item, all_of in items.items()} for query, items in given.items()}


def ndcg_within(found: Sequence[float | None], judged: Sequence[float]) -> float | None:
    """NDCG over the annotated snippets: results that nobody rated are taken out, and ranks close up.

    Gain 2^relevance - 1, no cut-off, ideal over all annotated snippets of the query, found or not. None where
    no annotated snippet is relevant. Raises `FoundMoreThanJudged`.
    """
    return _ndcg([relevance for relevance in found[:PREDICTIONS_READ] if relevance is not None], judged)


def ndcg_all(found: Sequence[float | None], judged: Sequence[float]) -> float | None:
    """As `ndcg_within`, with results that nobody rated left in their ranks with no gain."""
    return _ndcg(found[:PREDICTIONS_READ], judged)


@dataclass(slots=True)
class Coverage:
    """Annotated snippets so far, the relevant ones, and how many of each are among the results."""

    annotated: int = 0
    found: int = 0
    relevant: int = 0
    relevant_found: int = 0

    def add(self, ranking: Ranking) -> None:
        """Count one query's. Raises `FoundMoreThanJudged`."""
        refuse_unjudged(ranking.found, ranking.judged)
        read = ranking.found[:PREDICTIONS_READ]
        self.annotated += len(ranking.judged)
        self.found += sum(relevance is not None for relevance in read)
        self.relevant += ranking.positives
        self.relevant_found += sum(ranking.hits[:PREDICTIONS_READ])

    @property
    def share(self) -> float | None:
        return self.found / self.annotated if self.annotated else None

    @property
    def share_of_relevant(self) -> float | None:
        return self.relevant_found / self.relevant if self.relevant else None


def _ndcg(found: Sequence[float | None], judged: Sequence[float]) -> float | None:
    refuse_unjudged(found, judged)
    ideal = dcg(sorted(judged, reverse=True), exponential)
    return dcg(found, exponential) / ideal if ideal else None
