from __future__ import annotations

import pytest

from retrieval.metrics.overlap import compute_list_overlap, compute_pairwise_overlaps


def test_shared_and_jaccard_are_means_over_queries() -> None:
    found = compute_list_overlap("a", "b", 2, [({1, 2}, {2, 3}), ({1}, {1}), (set(), set())])
    assert found is not None
    assert (found.queries, found.shared) == (2, 1.0)
    assert found.jaccard == pytest.approx((1 / 3 + 1) / 2)
    assert compute_list_overlap("a", "b", 2, [(set(), set())]) is None


def test_every_two_are_compared_query_by_query() -> None:
    lists = {1: {"a": {1, 2}, "b": {2, 3}, "c": {1, 2}}, 2: {"a": {5}, "b": {5}}}
    found = {(one.first, one.second): one for one in compute_pairwise_overlaps(["a", "b", "c"], 2, lists)}
    assert set(found) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert found["a", "b"].jaccard == pytest.approx((1 / 3 + 1) / 2)
    assert (found["a", "c"].shared, found["a", "c"].queries) == (1.0, 2)
