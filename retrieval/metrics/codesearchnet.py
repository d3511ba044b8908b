"""CodeSearchNet's NDCG *within* and *all*, and its coverage (arXiv 1909.09436, §3.1; its `relevanceeval.py`).

Several experts may have rated a snippet: its relevance is their mean, a fraction, and is never rounded.
`found` and `judged` are as in `retrieval.metrics.graded`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from statistics import fmean
from typing import TypeVar

from retrieval.metrics.graded import dcg, exponential, refuse_unjudged
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


def coverage(rankings: Iterable[Ranking], *, relevant: bool = False) -> float | None:
    """Share of the annotated snippets of all queries together that are among the results.

    `relevant` counts only snippets with a relevance above 0. One share, not a mean over queries: a query with
    many annotations weighs more. None without annotations. Raises `FoundMoreThanJudged`.
    """
    covered = annotated = 0
    for ranking in rankings:
        refuse_unjudged(ranking.found, ranking.judged)
        covered += sum(_counts(relevance, relevant) for relevance in ranking.found[:PREDICTIONS_READ])
        annotated += sum(_counts(relevance, relevant) for relevance in ranking.judged)
    return covered / annotated if annotated else None


def _ndcg(found: Sequence[float | None], judged: Sequence[float]) -> float | None:
    refuse_unjudged(found, judged)
    ideal = dcg(sorted(judged, reverse=True), exponential)
    return dcg(found, exponential) / ideal if ideal else None


def _counts(relevance: float | None, relevant: bool) -> bool:
    return relevance is not None and (not relevant or relevance > 0)
