"""Distributions against their closed forms and printed tables."""

from __future__ import annotations

from math import comb, pi, sin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.stats.distributions import (
    beta_quantile,
    binomial_below,
    normal_below,
    student_above,
    student_quantile,
)


@given(st.floats(0.001, 0.999))
def test_quantiles_of_the_beta_distribution_at_its_known_forms(share: float) -> None:
    """Half and half it is the arcsine's; of 1 and b a share of 1 − (1 − x)ᵇ lies below x."""
    assert beta_quantile(share, 0.5, 0.5) == pytest.approx(sin(pi / 2 * share) ** 2)
    assert beta_quantile(share, 1, 3.5) == pytest.approx(1 - (1 - share) ** (1 / 3.5))
    assert beta_quantile(share, 2.5, 40) == pytest.approx(1 - beta_quantile(1 - share, 40, 2.5))


@given(st.integers(0, 60).flatmap(lambda n: st.tuples(st.integers(-1, n), st.just(n))), st.floats(0.01, 0.99))
def test_hits_at_most_are_added_up(numbers: tuple[int, int], rate: float) -> None:
    most, many = numbers
    expected = sum(comb(many, k) * rate**k * (1 - rate) ** (many - k) for k in range(most + 1))
    assert binomial_below(most, many, rate) == pytest.approx(expected)


def test_the_normal_distribution_as_tables_have_it() -> None:
    assert [round(normal_below(z), 5) for z in (-1.959964, 0, 1.644854)] == [0.025, 0.5, 0.95]


@pytest.mark.parametrize(("free", "quantile"), [(1, 12.706), (2, 4.303), (9, 2.262), (120, 1.980)])
def test_students_t_as_tables_have_it(free: int, quantile: float) -> None:
    assert student_quantile(0.975, free) == pytest.approx(quantile, abs=5e-4)
    assert student_above(quantile, free) == pytest.approx(0.025, abs=2e-5)
    assert student_above(-quantile, free) == pytest.approx(0.975, abs=2e-5)
