"""Intervals of means over queries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.metrics.resampling import bootstrap_means, interval


def test_about_two_standard_errors_to_each_side() -> None:
    """400 queries, half 0 and half 1: mean 0.5, standard error 0.5 / 20 = 0.025."""
    between = interval(bootstrap_means(np.array([[0.0, 1.0] * 200]))[0])
    assert (between.low, between.high) == pytest.approx((0.451, 0.549), abs=0.006)


def test_the_same_seed_gives_the_same_interval() -> None:
    values = np.array([[0.1, 0.5, 0.9]])
    assert np.array_equal(bootstrap_means(values), bootstrap_means(values))
    assert not np.array_equal(bootstrap_means(values, seed=1), bootstrap_means(values, seed=2))


def test_all_measures_see_the_same_queries() -> None:
    values = np.array([[0.1, 0.5, 0.9], [0.3, 0.7, 1.1]])
    first, second = bootstrap_means(values)
    assert np.allclose(second - first, 0.2)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_means_stay_between_the_smallest_and_the_largest(values: list[float]) -> None:
    means = bootstrap_means(np.array([values]), resamples=50)
    assert min(values) - 1e-12 <= means.min() <= means.max() <= max(values) + 1e-12


@pytest.mark.parametrize("values", [[[]], [[math.nan]], [[math.inf, 1]], [1, 2]])
def test_what_has_no_mean_is_refused(values: list[object]) -> None:
    with pytest.raises(ValueError, match=r"expected rows|finite"):
        bootstrap_means(np.array(values, dtype=np.float64))
