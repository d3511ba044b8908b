"""How well queries were answered: pure functions of ranked lists and labels. Formulas: docs/metrics.md.

A measure of one query lies in [0, 1] (but for counts), is 0 when nothing was found, and is None for a query
without a match: such a query says nothing; `averages.average` leaves it out of the mean and counts it. Tied
scores are the caller's: it hands over one definite order. Intervals and tests come elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from retrieval.metrics.binary import (
    MMRR_CUT,
    MoreHitsThanPositives,
    average_precision,
    average_precision_of_reachable,
    distinct_matches,
    multi_choice_reciprocal_rank,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
    success,
)

__all__ = [
    "METRICS",
    "MMRR_CUT",
    "Metric",
    "MoreHitsThanPositives",
    "average_precision",
    "average_precision_of_reachable",
    "distinct_matches",
    "multi_choice_reciprocal_rank",
    "ndcg",
    "precision",
    "recall",
    "reciprocal_rank",
    "success",
]

Metric: TypeAlias = Callable[[Sequence[bool], int], float | None]

CUTS = (1, 3, 5, 10)
"""CoSQA+'s survey: people read 2.64 examples for a query, so the first three have a figure of their own."""

METRICS: Mapping[str, Metric] = {
    "mrr": reciprocal_rank,
    "mrr@10": partial(reciprocal_rank, k=10),
    "mmrr": multi_choice_reciprocal_rank,
    "map": average_precision,
    "map@10": partial(average_precision, k=10),
    "map@10 of reachable": partial(average_precision_of_reachable, k=10),
    "ndcg": ndcg,
    "ndcg@10": partial(ndcg, k=10),
    "recall": recall,
    **{f"recall@{k}": partial(recall, k=k) for k in (*CUTS, 20, 100)},
    **{f"precision@{k}": partial(precision, k=k) for k in CUTS},
    **{f"success@{k}": partial(success, k=k) for k in CUTS},
}
"""Measures of binary labels that pages and reports show, by name; `names.measure` reads any cut-off."""
