"""Kendall's tau by hand, and what has none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.metrics.rank_correlation import kendall_tau

VALUES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


def test_by_hand() -> None:
    # Of six pairs five agree and one does not: (5 - 1) ÷ 6.
    assert kendall_tau([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(4 / 6)
    # One tie in the first: (2 - 0) ÷ √(2 × 3).
    assert kendall_tau([1, 1, 2], [1, 2, 3]) == pytest.approx(2 / 6**0.5)


def test_who_has_none() -> None:
    assert kendall_tau([], []) is None
    assert kendall_tau([1], [2]) is None
    assert kendall_tau([1, 1], [1, 2]) is None
    with pytest.raises(ValueError, match="1 values and 2"):
        kendall_tau([1], [1, 2])


@given(VALUES)
def test_it_is_the_same_from_both_sides_and_turns_with_one(values: list[tuple[int, int]]) -> None:
    first, second = [a for a, _ in values], [b for _, b in values]
    found = kendall_tau(first, second)
    assert kendall_tau(second, first) == (found if found is None else pytest.approx(found))
    turned = kendall_tau(first, [-b for b in second])
    assert (turned is None) == (found is None)
    if found is not None and turned is not None:
        assert turned == pytest.approx(-found)
        assert -1 - 1e-9 <= found <= 1 + 1e-9


@given(st.lists(st.integers(0, 9), min_size=2, unique=True))
def test_the_same_order_is_1(values: list[int]) -> None:
    assert kendall_tau(values, [2 * value for value in values]) == pytest.approx(1.0)
