"""CodeSearchNet's second task: the snippet of a query among 999 others (arXiv 1909.09436, §4.3, Table 3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

POOL = 1000
"""A query's own snippet and 999 distractors."""

SEED = 20_604
"""Of the draw of distractors, where nobody names another."""


def draw_distractors(snippets: int, matches: Collection[int], seed: int, query: int) -> NDArray[np.int64]:
    """The places of a query's distractors: `POOL` - 1 of the collection at random, or all of a smaller one.

    None is a match of the query. Another label of one snippet replaces one distractor, not all of them.
    """
    draws = np.random.default_rng([seed, query])
    fits = snippets > DRAWN_AT_ONCE * POOL
    order = draws.integers(snippets, size=DRAWN_AT_ONCE * POOL) if fits else draws.permutation(snippets)
    places, firsts = np.unique(order, return_index=True)
    others = places[np.argsort(firsts)]
    return others[~np.isin(others, list(matches))][: POOL - 1]


DRAWN_AT_ONCE = 4
"""So many times `POOL` are drawn with replacement where the collection is larger: enough differ."""


def reciprocal_rank_in_list(
    hits: Sequence[bool], distractor: Sequence[bool], number: int, positives: int
) -> float | None:
    """`reciprocal_rank_among` for a ranked list: the first match is the query's own snippet.

    What the list lacks shares the last place: with no match in it, all `number` distractors stand before.
    None for a query without a match.
    """
    if positives == 0:
        return None
    last = len(hits)
    own = next((rank for rank, hit in enumerate(hits) if hit), last)
    others = [rank for rank, chosen in enumerate(distractor) if chosen]
    scores = -np.array([*others, *[last] * (number - len(others))], dtype=np.float64)
    return reciprocal_rank_among(-float(own), scores)


def reciprocal_rank_among(own: float, distractors: Sequence[float] | NDArray[np.floating]) -> float:
    """1 / rank of a query's own snippet by score among its distractors; their mean is the table's MRR.

    A distractor with an equal score stands before it, as in the authors' code: a model that gives every
    snippet the same score is no good. Raises ValueError where a score is not finite.
    """
    others = np.asarray(distractors, dtype=np.float64)
    if not (np.isfinite(own) and np.isfinite(others).all()):
        raise ValueError("every score must be a finite number")
    return 1 / (1 + int(np.count_nonzero(others >= own)))
