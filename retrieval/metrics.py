"""How well one query was answered. Pure functions of (hits, positives); means and intervals come elsewhere.

`hits` says for each rank, best first, whether the snippet there is a match; `positives` is the number of
matches that the query has, found or not. Every measure lies in [0, 1], is 0 when nothing was found, and is
None for a query without positives: such a query says nothing, is left out of the mean and counted.
Tied scores are the caller's: it hands over one definite order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

Metric: TypeAlias = Callable[[Sequence[bool], int], float | None]

MMRR_CUT = 1000
"""Ranks beyond this count as not found, as in CoSQA+'s scripts."""


class MoreHitsThanPositives(ValueError):
    """The ranked list holds more matches than the query is said to have."""


def reciprocal_rank(hits: Sequence[bool], positives: int, k: int | None = None) -> float | None:
    """1 / rank of the first match, 0 if it is not among the first k. Its mean is MRR (Voorhees 1999)."""
    if _nothing_to_find(hits, positives):
        return None
    return next((1 / rank for rank, hit in enumerate(hits[:k], 1) if hit), 0.0)


def recall(hits: Sequence[bool], positives: int, k: int) -> float | None:
    """Share of the query's matches that are among the first k."""
    if _nothing_to_find(hits, positives):
        return None
    return sum(hits[:k]) / positives


def average_precision(hits: Sequence[bool], positives: int, k: int | None = None) -> float | None:
    """Sum of precision at each match among the first k, divided by all positives (trec_eval's map_cut)."""
    if _nothing_to_find(hits, positives):
        return None
    return _sum_of_precisions(hits[:k]) / positives


def average_precision_of_reachable(hits: Sequence[bool], positives: int, k: int) -> float | None:
    """As `average_precision`, divided by min(positives, k), so that k matches first give 1.

    sentence-transformers' MAP@k. CoSQA+ does not publish which denominator its MAP@10 has; report both.
    """
    if _nothing_to_find(hits, positives):
        return None
    return _sum_of_precisions(hits[:k]) / min(positives, k)


def ndcg(hits: Sequence[bool], positives: int, k: int) -> float | None:
    """Normalised discounted cumulative gain of binary labels: sum of 1 / log2(rank + 1) over the ideal's.

    Järvelin and Kekäläinen 2002, gain 1 for a match; the ideal has min(positives, k) matches first.
    """
    if _nothing_to_find(hits, positives):
        return None
    found = sum(1 / math.log2(rank + 1) for rank, hit in enumerate(hits[:k], 1) if hit)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(positives, k) + 1))
    return found / ideal


def multi_choice_reciprocal_rank(hits: Sequence[bool], positives: int) -> float | None:
    """Mean over all positives of 1 / (rank - matches before it): 1 when the matches stand first.

    A match beyond rank 1,000 or not found adds 0. Its mean is MMRR (CoSQA+, arXiv 2406.11589 version 1).
    """
    if _nothing_to_find(hits, positives):
        return None
    ranks = [rank for rank, hit in enumerate(hits[:MMRR_CUT], 1) if hit]
    return sum(1 / (rank - before) for before, rank in enumerate(ranks)) / positives


METRICS: Mapping[str, Metric] = {
    "mrr": reciprocal_rank,
    "mrr@10": partial(reciprocal_rank, k=10),
    "mmrr": multi_choice_reciprocal_rank,
    "map": average_precision,
    "map@10": partial(average_precision, k=10),
    "map@10 of reachable": partial(average_precision_of_reachable, k=10),
    "ndcg@10": partial(ndcg, k=10),
    "recall@1": partial(recall, k=1),
    "recall@5": partial(recall, k=5),
    "recall@10": partial(recall, k=10),
    "recall@20": partial(recall, k=20),
}


def _nothing_to_find(hits: Sequence[bool], positives: int) -> bool:
    found = sum(hits)
    if found > positives:
        raise MoreHitsThanPositives(
            f"{found} matches are ranked but the query has {positives}; list each once"
        )
    return positives == 0


def _sum_of_precisions(hits: Sequence[bool]) -> float:
    ranks = [rank for rank, hit in enumerate(hits, 1) if hit]
    return sum(number / rank for number, rank in enumerate(ranks, 1))
