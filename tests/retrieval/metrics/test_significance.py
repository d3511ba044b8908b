"""Holm's correction."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.metrics.significance import adjust_by_holm


def test_holm_by_hand() -> None:
    """0.01 x 3 = 0.03, 0.02 x 2 = 0.04, 0.5 x 1."""
    assert adjust_by_holm([0.5, 0.01, 0.02]) == pytest.approx([0.5, 0.03, 0.04])
    assert adjust_by_holm([0.03, 0.029]) == pytest.approx([0.058, 0.058])
    assert adjust_by_holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_never_lowers_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = adjust_by_holm(p_values)
    assert all(given <= found <= 1 for given, found in zip(p_values, adjusted, strict=True))
    pairs = sorted(zip(p_values, adjusted, strict=True))
    assert [found for _, found in pairs] == sorted(adjusted)
