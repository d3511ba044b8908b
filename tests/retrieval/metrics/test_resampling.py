"""Intervals of means over queries, and randomisation tests of paired differences."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.metrics.resampling import (
    AGREEMENT_SEED,
    SIGN_FLIPS,
    bootstrap_means,
    bootstrap_sums,
    draw_units,
    draw_within_groups,
    paired_p,
    percentile_interval,
)


def test_about_two_standard_errors_to_each_side() -> None:
    """400 queries, half 0 and half 1: mean 0.5, standard error 0.5 / 20 = 0.025."""
    between = percentile_interval(bootstrap_means(np.array([[0.0, 1.0] * 200]))[0])
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


def test_by_hand_for_a_few_queries() -> None:
    """Five differences have 32 patterns of signs; the share with a sum at least as far from 0 is exact."""
    differences = [0.5, 0.4, -0.1, 0.3, 0.2]
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in itertools.product([1, -1], repeat=5)
    ]
    exact = sum(total >= sum(differences) - 1e-9 for total in sums) / 32
    assert paired_p(np.array([differences]))[0] == pytest.approx(exact, abs=0.02)


def test_a_clear_difference_has_the_smallest_p_and_none_has_1() -> None:
    found = paired_p(np.array([[0.1] * 50, [0.0] * 50]))
    assert found.tolist() == [1 / (SIGN_FLIPS + 1), 1]


def test_chance_is_called_chance_as_often_as_it_should() -> None:
    """Of 400 comparisons without a difference about 5 % have p below 0.05."""
    noise = np.random.default_rng(1).normal(size=(400, 40))
    assert 0.02 < (paired_p(noise, flips=999) < 0.05).mean() < 0.08


def test_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="expected rows of comparisons"):
        paired_p(np.zeros(3))


def test_draws_do_not_depend_on_how_many_are_held_at_once() -> None:
    """250 draws in blocks of 100 are those that one call of the generator gives."""
    blocks = list(draw_units(7, seed=3, resamples=250))
    assert [len(block) for block in blocks] == [100, 100, 50]
    assert np.array_equal(np.vstack(blocks), np.random.default_rng(3).integers(0, 7, (250, 7)))


def test_sums_take_a_unit_with_all_its_columns() -> None:
    """Of two units with (1, 10) and (2, 20) every draw has ten times as much in the second column."""
    sums = bootstrap_sums(np.array([[1.0, 10.0], [2.0, 20.0]]), AGREEMENT_SEED)
    assert np.array_equal(sums[:, 1], 10 * sums[:, 0])
    assert set(sums[:, 0]) == {2.0, 3.0, 4.0}


def test_groups_are_drawn_from_alone_and_a_single_unit_always_counts_once() -> None:
    """Of three units two are drawn and count 3 / 2 times: each draw's counts add up to 3."""
    counts = draw_within_groups(np.random.default_rng(1), [np.array([0, 1, 2]), np.array([3])], 50)
    assert np.array_equal(counts[:, :3].sum(axis=1), np.full(50, 3.0))
    assert set(counts[:, :3].ravel()) == {0.0, 1.5, 3.0}
    assert (counts[:, 3] == 1).all()
