"""A query's own snippet among its distractors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from retrieval.metrics.distractors import POOL, reciprocal_rank_among, reciprocal_ranks_in_pool


@pytest.mark.parametrize(
    ("own", "distractors", "rank"),
    [(0.9, [0.1, 0.8], 1), (0.5, [0.9, 0.1, 0.6], 3), (0.5, [0.5, 0.1], 2), (0.5, [], 1)],
)
def test_rank(own: float, distractors: list[float], rank: int) -> None:
    assert reciprocal_rank_among(own, distractors) == 1 / rank


def test_a_model_that_cannot_tell_snippets_apart_comes_last() -> None:
    assert reciprocal_rank_among(0.0, [0.0] * (POOL - 1)) == 1 / 1000


@given(
    st.integers(1, 12).flatmap(
        lambda size: arrays(float, (size, size), elements=st.integers(0, 5).map(float))
    )
)
def test_a_pool_is_each_query_among_its_distractors(scores: np.ndarray) -> None:
    alone = [reciprocal_rank_among(row[i], np.delete(row, i)) for i, row in enumerate(scores)]
    assert reciprocal_ranks_in_pool(scores).tolist() == alone


def test_other_shapes_and_nan_are_refused() -> None:
    with pytest.raises(ValueError, match="as many queries as snippets"):
        reciprocal_ranks_in_pool(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="finite"):
        reciprocal_ranks_in_pool(np.array([[np.nan]]))
    with pytest.raises(ValueError, match="finite"):
        reciprocal_rank_among(float("nan"), [0.0])
