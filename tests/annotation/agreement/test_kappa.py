"""Cohen's kappa against published and hand-made tables."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.agreement import Draws, Labels
from annotation.agreement.kappa import MOST_PAIRS, in_row_order, kappa_of, kappas, symmetrised
from tests.ratings import each_its_query, people

QUADRATIC = (np.arange(3.0)[:, None] - np.arange(3.0)) ** 2


def test_a_published_table() -> None:
    """Cohen 1960's form: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: observed 0.7, by chance 0.5."""
    assert float(kappa_of(np.array([20.0, 5, 10, 15]), 1 - np.eye(2))) == pytest.approx(0.4)


def test_quadratic_by_hand() -> None:
    """Three labels: 2 on (0,0), 1 on (0,1), 1 on (1,2), 2 on (2,2): observed 2. Rows 3, 1, 2; columns
    2, 1, 3; expected ((0·2 + 1·1 + 4·3)·3 + (1·2 + 0 + 1·3)·1 + (4·2 + 1·1 + 0)·2) ÷ 6 = 62 ÷ 6.
    """
    table = np.array([2.0, 1, 0, 0, 0, 1, 0, 0, 2])
    assert float(kappa_of(table, QUADRATIC)) == pytest.approx(1 - 2 / (62 / 6))


def test_each_two_raters_with_pairs_in_common() -> None:
    sample = each_its_query(4)
    labels = people("1100", "110*", "***0")
    rows, left = kappas(sample, Draws.of(sample), labels, sample.weights)
    assert [(row.first, row.second, row.common) for row in rows] == [("R1", "R2", 3), ("R1", "R3", 1)]
    assert left == 0 and rows[0].kappa.value == 1
    assert rows[1].kappa.value is None and "two different values" in rows[1].kappa.words


def test_of_many_raters_those_with_the_most_in_common_are_shown() -> None:
    sample = each_its_query(5)
    labels = Labels.of_people("crowd", np.eye(5, 12))
    rows, left = kappas(sample, Draws.of(sample), labels, sample.weights)
    assert len(rows) == MOST_PAIRS and left == 12 * 11 // 2 - MOST_PAIRS


def test_row_order_makes_three_twos_of_three_labels() -> None:
    """012: the twos 01, 02, 12."""
    cells = in_row_order(np.array([[0.0, 1, 2], [1, np.nan, np.nan]]), np.arange(3.0))
    assert cells[0].reshape(3, 3).tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    assert not cells[1].any()


def test_symmetrised_no_order_matters() -> None:
    scale = np.arange(3.0)
    one, other = (symmetrised(in_row_order(np.array([row]), scale), 3) for row in ([0.0, 1, 2], [2.0, 0, 1]))
    assert (one == other).all()
