"""How well one query was answered where a snippet either matches or does not.

`hits` says for each rank, best first, whether the snippet there is a match; `positives` is the number of
matches that the query has, found or not. `k` cuts the ranked list off; None reads all of it. Every function
raises `MoreHitsThanPositives` where the list holds more matches than there are.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from retrieval.metrics.ncs import first_rank

MMRR_CUT = 1000
"""Ranks beyond this count as not found, as in CoSQA+'s scripts."""


class MoreHitsThanPositives(ValueError):
    """The ranked list holds more matches than the query is said to have."""


def reciprocal_rank(hits: Sequence[bool], positives: int, k: int | None = None) -> float | None:
    """1 / rank of the first match, 0 if it is not among the first k. Its mean is MRR (Voorhees 1999)."""
    if _nothing_to_find(hits, positives):
        return None
    rank = first_rank(hits[:k])
    return 0.0 if rank is None else 1 / rank


def recall(hits: Sequence[bool], positives: int, k: int | None = None) -> float | None:
    """Share of the query's matches that are among the first k (Manning, Raghavan and Schütze 2008, ch. 8)."""
    if _nothing_to_find(hits, positives):
        return None
    return sum(hits[:k]) / positives


def precision(hits: Sequence[bool], positives: int, k: int) -> float | None:
    """Share of matches among the first k; a shorter list is filled up with no match (trec_eval's P)."""
    if _nothing_to_find(hits, positives):
        return None
    return sum(hits[:k]) / k


def success(hits: Sequence[bool], positives: int, k: int) -> float | None:
    """1 if a match is among the first k, else 0 (trec_eval's success). Its sum is NCS's Answered@k."""
    if _nothing_to_find(hits, positives):
        return None
    return float(any(hits[:k]))


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


def ndcg(hits: Sequence[bool], positives: int, k: int | None = None) -> float | None:
    """Normalised discounted cumulative gain of binary labels: sum of 1 / log2(rank + 1) over the ideal's.

    Järvelin and Kekäläinen 2002, gain 1 for a match; the ideal has min(positives, k) matches first.
    """
    if _nothing_to_find(hits, positives):
        return None
    found = sum(1 / math.log2(rank + 1) for rank, hit in enumerate(hits[:k], 1) if hit)
    reachable = positives if k is None else min(positives, k)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, reachable + 1))
    return found / ideal


def multi_choice_reciprocal_rank(hits: Sequence[bool], positives: int, k: int = MMRR_CUT) -> float | None:
    """Mean over all positives of 1 / (rank - matches before it): 1 when the matches stand first.

    A match that is not found or beyond rank k adds 0. Its mean is MMRR (CoSQA+, arXiv 2406.11589 version 1).
    """
    if _nothing_to_find(hits, positives):
        return None
    ranks = [rank for rank, hit in enumerate(hits[:k], 1) if hit]
    return sum(1 / (rank - before) for before, rank in enumerate(ranks)) / positives


def distinct_matches(
    hits: Sequence[bool], groups: Sequence[Hashable], positives: int, k: int | None = None
) -> int | None:
    """Number of groups of near-duplicates with a match among the first k: copies of one answer count once.

    `groups` names for each rank the group of the snippet there; a snippet without copies is a group of its
    own. Raises ValueError where `hits` and `groups` differ in length.
    """
    if _nothing_to_find(hits, positives):
        return None
    pairs = list(zip(hits, groups, strict=True))
    return len({group for hit, group in pairs[:k] if hit})


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
