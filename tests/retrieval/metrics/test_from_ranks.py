"""Measures from ranks in arrays are the measures of lists, query by query."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.metrics.from_ranks import NotFromRanks, Ranked, is_from_ranks, per_query
from retrieval.metrics.names import parse_measure
from retrieval.metrics.ranking import Ranking

NAMES = (
    *("ndcg", "ndcg@2", "ndcg_linear@3", "mrr", "mrr@2", "mmrr", "mmrr@3", "map", "map@2"),
    *("map_reachable@2", "recall", "recall@3", "precision@3", "success@1"),
)
relevances = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0])
judged = st.lists(st.tuples(relevances, st.booleans()), max_size=5)
"""One query: the relevance of each judged snippet, and whether the list has it."""


def ranks_of(found: Sequence[tuple[float, bool]], gaps: Sequence[int]) -> list[int]:
    """Ranks in the order given, with unjudged results between them; 0 where it is not found."""
    ranks, last = [], 0
    for (_, there), gap in zip(found, gaps, strict=True):
        last += gap + 1 if there else 0
        ranks.append(last if there else 0)
    return ranks


def list_of(found: Sequence[tuple[float, bool]], ranks: Sequence[int]) -> Ranking:
    listed: list[float | None] = [None] * max(ranks, default=0)
    for (relevance, _), rank in zip(found, ranks, strict=True):
        if rank:
            listed[rank - 1] = relevance
    return Ranking(listed, [relevance for relevance, _ in found])


@given(st.lists(judged, min_size=1, max_size=4), st.data())
def test_they_are_the_measures_of_the_lists(
    queries: list[list[tuple[float, bool]]], data: st.DataObject
) -> None:
    ranks = [
        ranks_of(one, data.draw(st.lists(st.integers(0, 3), min_size=len(one), max_size=len(one))))
        for one in queries
    ]
    numbers = np.array([n for n, one in enumerate(queries) for _ in one], dtype=np.int64)
    flat = np.array([rank for one in ranks for rank in one], dtype=np.int64)
    relevance = np.array([r for one in queries for r, _ in one], dtype=np.float64)
    mixed = np.array(data.draw(st.permutations(range(len(flat)))), dtype=np.int64)
    ranked = Ranked.of(numbers[mixed], flat[mixed], len(queries))
    for name in NAMES:
        expected = [parse_measure(name).score(list_of(*one)) for one in zip(queries, ranks, strict=True)]
        wanted = [math.nan if value is None else value for value in expected]
        np.testing.assert_allclose(
            per_query(name, ranked, relevance[mixed]), wanted, atol=1e-12, err_msg=name
        )


def test_what_needs_more_is_refused() -> None:
    ranked = Ranked.of(np.array([0]), np.array([1]), 1)
    with pytest.raises(NotFromRanks, match="ndcg_within"):
        per_query("ndcg_within", ranked, np.array([1.0]))
    assert is_from_ranks("ndcg@10")
    assert not is_from_ranks("ndcg_all")
