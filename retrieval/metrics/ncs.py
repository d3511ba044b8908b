"""Neural Code Search's measures (arXiv 1908.09804): FRank, Answered@k and MRR over all questions.

They need no list of all matches, only which results answer the question, so no question is skipped: one
without an answer among its results (`NF` in the score sheet) counts as not answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum

CUTS = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class Summary:
    """`answered`: questions answered among the first 1, 5, 10 results; `mrr` is None without questions."""

    answered: dict[int, int]
    mrr: float | None
    questions: int


def first_rank(hits: Sequence[bool]) -> int | None:
    """FRank: rank of the first result that answers the question, None if none does."""
    return next((rank for rank, hit in enumerate(hits, 1) if hit), None)


def count_answered_questions(first_ranks: Iterable[int | None], k: int) -> int:
    """Answered@k: number of questions with FRank at most k."""
    return sum(rank is not None and rank <= k for rank in first_ranks)


def mean_reciprocal_rank(first_ranks: Sequence[int | None]) -> float | None:
    """Mean of 1 / FRank over all questions, 0 for one that was not answered; None without questions."""
    if not first_ranks:
        return None
    return fsum(1 / rank for rank in first_ranks if rank is not None) / len(first_ranks)


def summarize_first_ranks(first_ranks: Sequence[int | None]) -> Summary:
    """One row of the paper's Table 1, from one system's FRank of every question."""
    counts = {k: count_answered_questions(first_ranks, k) for k in CUTS}
    return Summary(counts, mean_reciprocal_rank(first_ranks), len(first_ranks))
