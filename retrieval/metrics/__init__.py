"""How well queries were answered: pure functions of ranked lists and labels. Formulas: docs/metrics.md.

A measure of one query lies in [0, 1] (but for counts), is 0 when nothing was found, and is None for a query
without a match: such a query says nothing; `averages.average` leaves it out of the mean and counts it. Tied
scores are the caller's: it hands over one definite order. Intervals and tests come elsewhere. `names` has the
measures by their written names, with any cut-off.
"""

from __future__ import annotations

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
