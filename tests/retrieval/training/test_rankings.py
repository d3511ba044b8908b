"""Ranks beside sums by hand, and BM25 where words tell all."""

from __future__ import annotations

import numpy as np

from retrieval.training.rankings import rank_matches, score_bm25
from tests.retrieval.training.conftest import make_data

SCORES = np.array([[0.5, 0.9, 0.5], [0.1, 0.1, 0.7]])


def test_ranks_of_matches_put_the_earlier_of_equals_first() -> None:
    # the first query scores 0.5, 0.9, 0.5: snippet 1 is first, 0 second, 2 third
    asked, ranks = rank_matches(lambda start, end: SCORES[start:end], [[0, 2], [2]])
    assert asked.tolist() == [0, 0, 1]
    assert ranks.tolist() == [2, 3, 1]


def test_bm25_finds_the_function_that_has_the_verb() -> None:
    # each verb is in one query and in one function; all other words are in all of them
    assert score_bm25(make_data(), make_data().test) == {"ndcg@10": 1.0, "mrr": 1.0, "mmrr": 1.0}
