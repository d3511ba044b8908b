"""Alpha against published examples and against its definition, pair of values by pair of values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation import agreement

Ratings = Sequence[str]
BINARY: Final = ("0100000000", "1110010010")
NOMINAL: Final = ("aabbdcccedda", "babbbccceddd")
MISSING: Final = ("*****34121133*3", "1*213343*******", "**21344*21133*4")
"""One observer a line, one unit a column; * is no value."""


def units(observers: Ratings) -> list[list[int]]:
    """How often each value was given, unit by unit."""
    values = sorted({value for row in observers for value in row} - {"*"})
    return [
        [column.count(value) for value in values] for column in map("".join, zip(*observers, strict=True))
    ]


def alpha(found: Sequence[Sequence[int]]) -> float:
    return float(agreement.alpha(np.array([agreement.unit(one) for one in found]).sum(axis=0)))


def by_definition(found: Sequence[Sequence[int]]) -> float | None:
    """1 − observed ÷ expected disagreement, over all ordered pairs of values."""
    lists = [[value for value, count in enumerate(one) for _ in range(count)] for one in found]
    kept = [values for values in lists if len(values) > 1]
    everything = [value for values in kept for value in values]
    size = len(everything)
    observed = sum(sum(a != b for a, b in permutations(values, 2)) / (len(values) - 1) for values in kept)
    expected = sum(a != b for a, b in permutations(everything, 2))
    return 1 - (size - 1) * observed / expected if expected else None


@pytest.mark.parametrize(
    ("observers", "expected"),
    [(BINARY, 0.095), (NOMINAL, 0.692), (MISSING, 0.691)],
    ids=["B", "C", "missing"],
)
def test_published_examples(observers: Ratings, expected: float) -> None:
    """Krippendorff 2011, examples B and C; and 15 units by three observers with missing values."""
    assert alpha(units(observers)) == pytest.approx(expected, abs=5e-4)


@given(st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=2), min_size=1, max_size=12))
def test_it_is_what_its_definition_says(found: list[list[int]]) -> None:
    expected = by_definition(found)
    if expected is None:
        assert np.isnan(alpha(found))
    else:
        assert alpha(found) == pytest.approx(expected)


def test_perfect_agreement_is_one_and_one_value_alone_has_no_alpha() -> None:
    assert alpha([[3, 0], [0, 3]]) == 1.0
    assert np.isnan(alpha([[3, 0], [3, 0]]))


def test_a_unit_with_one_value_counts_for_nothing() -> None:
    assert agreement.unit((1, 0)) == agreement.unit((0, 0)) == (0.0, 0.0, 0.0)


def test_an_interval_holds_its_value_and_is_the_same_every_time() -> None:
    rows = np.array([agreement.unit(one) for one in [[3, 0], [0, 3], [2, 1], [1, 2], [3, 0]] * 10])
    first, again = (agreement.figure(*agreement.resampled(rows), agreement.alpha) for _ in range(2))
    assert first == again
    assert first.value is not None and first.low is not None and first.high is not None
    assert first.low < first.value < first.high


def test_clusters_widen_the_interval() -> None:
    """The same pairs, each alone or ten of a kind in one query."""
    kinds = [[3, 0]] * 12 + [[0, 3]] * 6 + [[2, 1]] * 6
    alone = np.array([agreement.unit(one) for one in kinds for _ in range(10)])
    together = np.array([np.multiply(10, agreement.unit(one)) for one in kinds])
    narrow, wide = (
        agreement.figure(*agreement.resampled(rows), agreement.alpha) for rows in (alone, together)
    )
    assert narrow.value == pytest.approx(wide.value)
    assert narrow.low is not None and wide.low is not None and wide.low < narrow.low


def test_where_resamples_often_have_no_alpha_there_is_no_interval() -> None:
    rows = np.array([agreement.unit(one) for one in ([3, 0], [3, 0], [2, 1])])
    found = agreement.figure(*agreement.resampled(rows), agreement.alpha)
    assert found.value is not None and found.low is None and found.undefined > agreement.MOST_UNDEFINED
