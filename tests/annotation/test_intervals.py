"""Intervals against worked numbers, and at the edges where others break."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.intervals import Mean, Share, bootstrap_mean, wilson


def test_wilson_agrees_with_published_values() -> None:
    # (0.97 + 3.8415/200 ± 1.96·√(0.97·0.03/100 + 3.8415/40000)) ÷ (1 + 3.8415/100)
    assert [round(end, 4) for end in wilson(97, 100)] == [0.9155, 0.9897]


def test_wilson_has_a_width_also_where_nothing_or_all_was_found() -> None:
    # 0 of 200: z² ÷ (n + z²) = 3.8415 ÷ 203.8415
    assert wilson(0, 200) == pytest.approx((0.0, 0.018845), abs=1e-5)
    assert wilson(200, 200) == pytest.approx((1 - 0.018845, 1.0), abs=1e-5)


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_and_stays_within_0_and_1(numbers: tuple[int, int]) -> None:
    low, high = wilson(*numbers)
    assert 0 <= low <= numbers[0] / numbers[1] <= high <= 1


@pytest.mark.parametrize("numbers", [(1, 0), (-1, 3), (4, 3), (0, 0)])
def test_what_is_no_share_is_refused(numbers: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="no share"):
        wilson(*numbers)


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
