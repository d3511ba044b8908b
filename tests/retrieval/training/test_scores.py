"""Reciprocal ranks beside sums by hand."""

from __future__ import annotations

import numpy as np

from retrieval.training.scores import reciprocal_ranks_in_batch

QUERIES = np.eye(2, dtype=np.float32)
SNIPPETS = np.array([[0.5, 0.1], [0.9, 0.1], [0.5, 0.7]], dtype=np.float32)


def test_in_a_batch_an_equal_score_counts_against_the_query() -> None:
    # the first query: 0.5 of its own, 0.9 and 0.5 of others, so rank 3
    three = np.vstack([QUERIES, [[1, 0]]]).astype(np.float32)
    found = reciprocal_ranks_in_batch(three, SNIPPETS)
    # second: 0.1, 0.1 (own), 0.7 → 3; third: 0.5, 0.9, 0.5 (own) → 3
    np.testing.assert_allclose(found, [1 / 3, 1 / 3, 1 / 3])
