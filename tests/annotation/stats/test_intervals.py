"""Intervals against worked numbers, and at the edges where others break."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from annotation.stats.intervals import (
    Mean,
    Share,
    bootstrap_mean,
    bootstrap_ratio,
    clopper_pearson,
    wilson_interval,
)


def test_wilson_agrees_with_published_values() -> None:
    # (0.97 + 3.8415/200 ± 1.96·√(0.97·0.03/100 + 3.8415/40000)) ÷ (1 + 3.8415/100)
    assert [round(end, 4) for end in wilson_interval(97, 100)] == [0.9155, 0.9897]


def test_wilson_has_a_width_also_where_nothing_or_all_was_found() -> None:
    # 0 of 200: z² ÷ (n + z²) = 3.8415 ÷ 203.8415
    assert wilson_interval(0, 200) == pytest.approx((0.0, 0.018845), abs=1e-5)
    assert wilson_interval(200, 200) == pytest.approx((1 - 0.018845, 1.0), abs=1e-5)


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_and_stays_within_0_and_1(numbers: tuple[int, int]) -> None:
    low, high = wilson_interval(*numbers)
    assert 0 <= low <= numbers[0] / numbers[1] <= high <= 1


@pytest.mark.parametrize("whole", [1, 2, 30, 999, 412_080])
def test_intervals_of_whole_numbers_are_those_of_scipy(whole: int) -> None:
    for part in {0, 1, whole // 3, whole - 1, whole}:
        told = binomtest(part, whole)
        for interval, method in ((wilson_interval, "wilson"), (clopper_pearson, "exact")):
            assert interval(part, whole) == pytest.approx(tuple(told.proportion_ci(method=method)), abs=1e-11)


@pytest.mark.parametrize("numbers", [(1, 0), (-1, 3), (4, 3), (0, 0)])
def test_what_is_no_share_is_refused(numbers: tuple[int, int]) -> None:
    for interval in (wilson_interval, clopper_pearson):
        with pytest.raises(ValueError, match="no share"):
            interval(*numbers)


def test_clopper_pearson_agrees_with_published_values() -> None:
    assert [round(end, 4) for end in clopper_pearson(3, 20)] == [0.0321, 0.3789]
    assert [round(end, 4) for end in clopper_pearson(97, 100)] == [0.9148, 0.9938]
    assert clopper_pearson(0, 50) == pytest.approx((0, 1 - 0.025 ** (1 / 50)))


@given(st.integers(2, 400).flatmap(lambda n: st.tuples(st.integers(1, n - 1), st.just(n))))
def test_clopper_pearson_ends_where_either_tail_has_half_of_5_percent(numbers: tuple[int, int]) -> None:
    part, whole = numbers
    low, high = clopper_pearson(part, whole)
    below = sum(comb(whole, k) * high**k * (1 - high) ** (whole - k) for k in range(part + 1))
    above = sum(comb(whole, k) * low**k * (1 - low) ** (whole - k) for k in range(part, whole + 1))
    assert (below, above) == pytest.approx((0.025, 0.025), rel=1e-5)


def test_parts_of_a_pair_lie_between_whole_ones() -> None:
    ends = [clopper_pearson(part, 224.5)[1] for part in (0, 0.3, 1, 1.7, 2)]
    assert ends == sorted(ends) and clopper_pearson(0.3, 224.5)[0] > 0


def test_a_share_of_nothing_is_unknown_not_zero() -> None:
    nothing = Share(0, 0)
    assert (nothing.value, nothing.low, nothing.high) == (None, None, None)


def test_the_bootstrap_is_the_same_for_the_same_seed_and_near_the_normal_interval() -> None:
    values = [1.0] * 67 + [4.0] * 33  # mean 1.99, standard deviation 1.4107, so ± 0.2765
    found = bootstrap_mean(values, 7)
    assert found == bootstrap_mean(values, 7)
    assert found != bootstrap_mean(values, 8)
    assert found.value == pytest.approx(1.99)
    assert found.low == pytest.approx(1.99 - 0.2765, abs=0.03)
    assert found.high == pytest.approx(1.99 + 0.2765, abs=0.03)


def test_one_value_has_no_interval_and_none_has_no_mean() -> None:
    assert bootstrap_mean([3.0], 1) == Mean(3.0)
    assert not Mean(3.0).has_interval
    with pytest.raises(ValueError, match="mean of nothing"):
        bootstrap_mean([], 1)


def test_a_sum_of_means_keeps_the_interval() -> None:
    assert Mean(2.0, 1.0, 4.0).times(10) == Mean(20.0, 10.0, 40.0)
    assert Mean(2.0).times(10) == Mean(20.0)


def test_a_ratio_resamples_whole_queries() -> None:
    """Two queries of 10 pairs each, all or nothing: resamples have 0, 10 or 20 of 20."""
    assert bootstrap_ratio([10, 0], [10, 10], 1) == (0.0, 1.0)
    narrow = bootstrap_ratio([1, 1, 1, 1], [2, 2, 2, 2], 1)
    assert narrow == (0.5, 0.5)


def test_queries_without_anything_and_single_ones_give_no_interval() -> None:
    assert bootstrap_ratio([], [], 1) is None
    assert bootstrap_ratio([3, 0], [4, 0], 1) is None
