"""What the agent's verdict does to people, less what a second look does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from annotation.stats.agreement.influence import Influence, Revisions, measure_reveal_influence
from annotation.stats.agreement.sample import Draws
from tests.ratings import each_its_query

NAN = float("nan")


def told(*rows: tuple[int, float, float, float, float, bool]) -> Influence:
    """Rows of pair, before, after, agent, truth, revealed."""
    columns: list[Any] = [np.array(column) for column in zip(*rows, strict=True)]
    sample = each_its_query(10)
    return measure_reveal_influence(sample, Draws.of(sample), Revisions(*columns), sample.weights)


def test_switching_towards_less_that_of_a_second_look() -> None:
    """Revealed: two of three go to the agent. Second look: one of four."""
    found = told(
        *((pair, 0.0, after, 1.0, NAN, True) for pair, after in enumerate((1.0, 1.0, 0.0))),
        *((pair, 0.0, after, 1.0, NAN, False) for pair, after in enumerate((1.0, 0.0, 0.0, 0.0), 3)),
    )
    assert (found.revealed, found.second_look, found.without_truth) == (3, 4, 7)
    assert found.towards.revealed.value == pytest.approx(2 / 3)
    assert found.towards.second_look.value == pytest.approx(1 / 4)
    assert found.towards.influence.value == pytest.approx(5 / 12)
    assert found.away.revealed.value is None and "agent's label" in found.away.revealed.words


def test_switching_away() -> None:
    found = told((0, 1.0, 0.0, 1.0, NAN, True), (1, 1.0, 1.0, 1.0, NAN, True), (2, 1.0, 1.0, 1.0, NAN, False))
    assert (found.away.revealed.value, found.away.second_look.value) == (0.5, 0)
    assert found.away.influence.value == 0.5


def test_right_and_wrong_advice_apart() -> None:
    """Right advice to two who were wrong, one follows; wrong advice to three who were right, two stand."""
    found = told(
        (0, 0.0, 1.0, 1.0, 1.0, True),
        (1, 0.0, 0.0, 1.0, 1.0, True),
        (2, 1.0, 1.0, 0.0, 1.0, True),
        (3, 1.0, 1.0, 0.0, 1.0, True),
        (4, 1.0, 0.0, 0.0, 1.0, True),
    )
    assert found.right_advice.revealed.value == pytest.approx(1 / 2)
    assert found.wrong_advice.revealed.value == pytest.approx(2 / 3)
    assert found.right_advice.influence.value is None and found.right_advice.influence.words


def test_without_other_blind_labels_there_is_no_truth() -> None:
    found = told((0, 0.0, 1.0, 1.0, NAN, True))
    assert found.without_truth == 1 and found.right_advice.revealed.value is None


def test_a_label_that_is_missing_anywhere_is_no_revision() -> None:
    found = told((0, NAN, 1.0, 1.0, 1.0, True), (1, 0.0, 1.0, NAN, 1.0, True), (2, 0.0, NAN, 1.0, 1.0, True))
    assert found.revealed == 0 and found.towards.revealed.value is None


def test_several_labels_of_one_pair_count_each() -> None:
    found = told((0, 0.0, 1.0, 1.0, NAN, True), (0, 0.0, 0.0, 1.0, NAN, True))
    assert found.towards.revealed.value == 0.5
