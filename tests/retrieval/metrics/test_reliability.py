"""Cronbach's alpha and average variance on the first CoSQA+ paper's own tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from retrieval.metrics.reliability import average_variance, cronbach_alpha

# arXiv 2406.11589v1, Tables 6 to 8: UniXcoder, CodeT5+, CodeBERT by queries with 2, 3, 4, 5 matches.
MRR = [[0.307, 0.427, 0.517, 0.617], [0.215, 0.313, 0.404, 0.531], [0.405, 0.497, 0.571, 0.651]]
MAP = [[0.285, 0.381, 0.448, 0.525], [0.206, 0.288, 0.361, 0.457], [0.374, 0.416, 0.493, 0.554]]
MMRR = [[0.192, 0.213, 0.229, 0.273], [0.124, 0.141, 0.159, 0.193], [0.265, 0.265, 0.275, 0.301]]


@pytest.mark.parametrize(("table", "alpha"), [(MMRR, 0.956), (MRR, 0.993), (MAP, 0.990)])
def test_the_papers_tables(table: list[list[float]], alpha: float) -> None:
    assert cronbach_alpha(table) == pytest.approx(alpha, abs=0.0005)


def test_the_other_way_round_is_not_the_papers_figure() -> None:
    """Systems as subjects and groups as items."""
    assert cronbach_alpha(np.transpose(MMRR)) == pytest.approx(0.9937, abs=0.0001)


def test_mmrr_varies_least_but_not_as_little_as_printed() -> None:
    """The paper prints 0.0004; its table gives 0.0008 (n - 1) or 0.0006 (n)."""
    mmrr = average_variance(MMRR)
    assert mmrr == pytest.approx(0.00078, abs=0.000005)
    assert mmrr is not None
    assert mmrr * 3 / 4 == pytest.approx(0.00059, abs=0.000005)
    assert mmrr < (average_variance(MAP) or 0) < (average_variance(MRR) or 0)


def test_alpha_written_out() -> None:
    """Variances 1 and 4; totals 3, 6, 9 have variance 9: 2/1 × (1 - 5/9)."""
    assert cronbach_alpha([[1, 2, 3], [2, 4, 6]]) == pytest.approx(2 * (1 - 5 / 9))
    assert average_variance([[1, 2, 3], [2, 4, 6]]) == pytest.approx((1 + 4) / 2)


@pytest.mark.parametrize("table", [[[1.0, 2.0]], [[1.0], [2.0]], [[0.1, 0.1], [0.3, 0.3]], [[1, 0], [0, 1]]])
def test_alpha_is_undefined_without_two_of_each_or_without_variance(table: list[list[float]]) -> None:
    assert cronbach_alpha(table) is None


def test_variance_is_undefined_below_two_groups() -> None:
    assert average_variance([[1.0], [2.0]]) is None
    assert average_variance(np.zeros((0, 3))) is None


def test_other_shapes_and_nan_are_refused() -> None:
    with pytest.raises(ValueError, match="rows of systems"):
        cronbach_alpha([1.0, 2.0])
    with pytest.raises(ValueError, match="finite"):
        average_variance([[float("nan"), 1.0]])


@given(
    arrays(float, (3, 5), elements=st.integers(0, 100).map(float)),
    st.integers(-10, 10).map(float),
    st.integers(1, 10).map(float),
)
def test_alpha_ignores_shift_and_scale_and_order_and_is_at_most_one(
    scores: np.ndarray, shift: float, scale: float
) -> None:
    alpha = cronbach_alpha(scores)
    for same in (scores * scale + shift, scores[::-1], scores[:, ::-1]):
        assert cronbach_alpha(same) == (None if alpha is None else pytest.approx(alpha))
    assert alpha is None or alpha <= 1 + 1e-12


@given(arrays(float, 5, elements=st.integers(0, 100).map(float)))
def test_systems_that_agree_have_alpha_one(row: np.ndarray) -> None:
    alpha = cronbach_alpha([row, row + 1, row - 1])
    assert alpha == (None if np.ptp(row) == 0 else pytest.approx(1))
