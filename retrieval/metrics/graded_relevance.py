"""NDCG of graded labels: how well the most relevant snippets were put first.

`found` is the relevance of the snippet at each rank, best first, None where nobody judged it (gain 0).
`judged` are the relevances of all judged snippets of the query, ranked or not, in any order. Relevances are
finite numbers of any scale, fractions too: CodeSearchNet's are means of several raters.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

Gain: TypeAlias = Callable[[float], float]


class FoundMoreThanJudged(ValueError):
    """The ranked list has a relevance more often than the query's judgements have it."""


def exponential(relevance: float) -> float:
    """2^relevance - 1 (Burges et al. 2005): relevance 3 counts seven times relevance 1. Below 0: 0."""
    return math.exp2(max(relevance, 0.0)) - 1


def linear(relevance: float) -> float:
    """The relevance itself (Järvelin and Kekäläinen 2002; trec_eval's ndcg). Below 0: 0."""
    return max(float(relevance), 0.0)


def ndcg_graded(
    found: Sequence[float | None], judged: Sequence[float], k: int | None = None, gain: Gain = exponential
) -> float | None:
    """DCG@k of the ranked list ÷ DCG@k of the judged snippets in their best order, in [0, 1].

    DCG@k = sum over ranks r = 1 … k of gain(relevance at r) ÷ log2(r + 1); k None reads both to their ends.
    None where no judged snippet has a gain. Raises `FoundMoreThanJudged`.
    """
    refuse_unjudged(found, judged)
    ideal = dcg(sorted(judged, reverse=True)[:k], gain)
    return dcg(found[:k], gain) / ideal if ideal else None


def dcg(relevances: Iterable[float | None], gain: Gain) -> float:
    """Discounted cumulative gain of relevances by rank, best first; None has no gain."""
    return sum(
        gain(relevance) / math.log2(rank + 1)
        for rank, relevance in enumerate(relevances, 1)
        if relevance is not None
    )


def refuse_unjudged(found: Iterable[float | None], judged: Iterable[float]) -> None:
    """Raise `FoundMoreThanJudged` unless every relevance of the list is one of the judged, each used once."""
    extra = Counter(relevance for relevance in found if relevance is not None) - Counter(judged)
    if extra:
        relevance = next(iter(extra))
        raise FoundMoreThanJudged(
            f"relevance {relevance:g} is ranked {extra[relevance]} times more than it was judged; "
            "list each function once, and only judged relevances"
        )
