"""Cohen's kappa against published and hand-made tables."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.stats.agreement.kappa import (
    MOST_PAIRS,
    by_pair,
    in_row_order,
    kappa_statistic,
    pairwise_kappas,
    symmetrize_columns,
)
from annotation.stats.agreement.labels import Labels
from annotation.stats.agreement.sample import Draws
from tests.ratings import each_its_query, people, value


def of(twos: str, quadratic: bool = False) -> float:
    """Kappa of pairs of two labels each: "20 11, 5 10" are twenty of 11 and five of 10."""
    rows = [
        (float(pair[0]), float(pair[1]))
        for one in twos.split(", ")
        for pair in [one.split()[1]] * int(one.split()[0])
    ]
    scale = np.unique(np.array(rows))
    return value(kappa_statistic(in_row_order(np.array(rows), scale), scale, quadratic))


def test_a_published_table() -> None:
    """The table of many textbooks: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: 0.7 seen, 0.5 by chance."""
    assert of("20 11, 5 10, 10 01, 15 00") == pytest.approx(0.4)


def test_quadratic_by_hand() -> None:
    """2 on (0,0), 1 on (0,1), 1 on (1,2), 2 on (2,2): observed 2. Rows 3, 1, 2; columns 2, 1, 3; expected
    ((0·2 + 1·1 + 4·3)·3 + (1·2 + 0 + 1·3)·1 + (4·2 + 1·1 + 0)·2) ÷ 6 = 62 ÷ 6.
    """
    assert of("2 00, 1 01, 1 12, 2 22", quadratic=True) == pytest.approx(1 - 2 / (62 / 6))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_it_is_its_definition(twos: list[tuple[int, int]]) -> None:
    """1 − how far the two are apart ÷ how far any first and any second are."""
    text = ", ".join(f"1 {one}{two}" for one, two in twos)
    for power, quadratic in ((0, False), (2, True)):
        far = [(one != two) * abs(one - two) ** power for one, two in twos]
        any_two = [(one != two) * abs(one - two) ** power for one, _ in twos for _, two in twos]
        if sum(any_two):
            expected = 1 - sum(far) * len(twos) / sum(any_two)
            assert of(text, quadratic) == pytest.approx(expected)
        else:
            assert np.isnan(of(text, quadratic))


def test_each_two_raters_with_pairs_in_common() -> None:
    sample = each_its_query(4)
    labels = people("1100", "110*", "***0")
    rows, left = pairwise_kappas(sample, Draws.of(sample), labels, sample.weights)
    assert [(row.first, row.second, row.common) for row in rows] == [("R1", "R2", 3), ("R1", "R3", 1)]
    assert left == 0 and rows[0].kappa.value == 1
    assert rows[1].kappa.value is None and "two different values" in rows[1].kappa.words


def test_of_many_raters_those_with_the_most_in_common_are_shown() -> None:
    sample = each_its_query(5)
    labels = Labels.of_people("crowd", np.eye(5, 12))
    rows, left = pairwise_kappas(sample, Draws.of(sample), labels, sample.weights)
    assert len(rows) == MOST_PAIRS and left == 12 * 11 // 2 - MOST_PAIRS


def test_row_order_makes_three_twos_of_three_labels() -> None:
    """012: the twos 01, 02, 12: three differ, by 1 + 4 + 1; firsts 0, 0, 1 and seconds 1, 2, 2."""
    cells = in_row_order(np.array([[0.0, 1, 2], [1, np.nan, np.nan]]), np.arange(3.0))
    assert cells[0].tolist() == [3, 6, 2, 1, 0, 0, 1, 2]
    assert not cells[1].any()


@given(st.lists(st.lists(st.integers(0, 3), max_size=5), max_size=8))
def test_labels_one_after_the_other_make_the_same_twos(items: list[list[int]]) -> None:
    """Against all twos of each item, one at a time; an item without labels has none."""
    rows = np.repeat(np.arange(len(items)), [len(labels) for labels in items]).astype(np.int64)
    values = np.array([value for labels in items for value in labels], dtype=np.float64)
    found = by_pair(rows, values, np.arange(4.0), len(items))
    for cells, labels in zip(found, items, strict=True):
        twos = list(combinations(labels, 2))
        assert cells[:2].tolist() == [sum(a != b for a, b in twos), sum((a - b) ** 2 for a, b in twos)]
        counted = [sum(two[side] == value for two in twos) for side in (0, 1) for value in range(4)]
        assert cells[2:].tolist() == counted


def test_symmetrised_no_order_matters() -> None:
    scale = np.arange(3.0)
    one, other = (
        symmetrize_columns(in_row_order(np.array([row]), scale)) for row in ([0.0, 1, 2], [2.0, 0, 1])
    )
    assert (one == other).all()
