"""Randomisation tests of paired differences, and Holm's correction."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.metrics.significance import FLIPS, holm, paired_p


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
    assert found.tolist() == [1 / (FLIPS + 1), 1]


def test_chance_is_called_chance_as_often_as_it_should() -> None:
    """Of 400 comparisons without a difference about 5 % have p below 0.05."""
    noise = np.random.default_rng(1).normal(size=(400, 40))
    assert 0.02 < (paired_p(noise, flips=999) < 0.05).mean() < 0.08


def test_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="expected rows of comparisons"):
        paired_p(np.zeros(3))


def test_holm_by_hand() -> None:
    """0.01 x 3 = 0.03, 0.02 x 2 = 0.04, 0.5 x 1."""
    assert holm([0.5, 0.01, 0.02]) == pytest.approx([0.5, 0.03, 0.04])
    assert holm([0.03, 0.029]) == pytest.approx([0.058, 0.058])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_never_lowers_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(given <= found <= 1 for given, found in zip(p_values, adjusted, strict=True))
    pairs = sorted(zip(p_values, adjusted, strict=True))
    assert [found for _, found in pairs] == sorted(adjusted)
