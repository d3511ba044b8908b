"""What each encoder of a mining finds by itself, for a sample of the queries, and what they have in common.

A mining keeps the best by all encoders together, which says little of what one of them alone would propose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from retrieval.index import Prepared
from retrieval.metrics.overlap import Overlap, compute_pairwise_overlaps
from retrieval.mining.lists import Indices, Lists, lists_of

SAMPLED_QUERIES: Final = 500
SEED: Final = 7


def draw_sampled_queries(queries: int) -> Indices:
    """The numbers of the sampled queries, ascending: the same ones for each part."""
    return np.sort(np.random.default_rng(SEED).permutation(queries)[:SAMPLED_QUERIES])


def lists_alone(found: Prepared, texts: Sequence[str], start: int, k: int) -> Lists | None:
    """The k best of a part by each encoder alone, one encoder's lists after another's; None for one encoder.

    `owners` count on: those of the second encoder begin after those of the first.
    """
    if len(found.signals) < 2:
        return None
    return lists_of(found.alone(draw_sampled_queries(found.queries), k), texts, start, ())


def compute_encoder_overlaps(names: Sequence[str], queries: int, k: int, lists: Lists) -> list[Overlap]:
    """What every two encoders have in common, of the lists of all parts."""
    sampled = len(draw_sampled_queries(queries))
    found: dict[int, dict[str, set[int]]] = {}
    for owner, index in zip(lists.owners.tolist(), lists.indices.tolist(), strict=True):
        encoder, query = divmod(owner, sampled)
        found.setdefault(query, {}).setdefault(names[encoder], set()).add(index)
    return compute_pairwise_overlaps(names, k, found)
