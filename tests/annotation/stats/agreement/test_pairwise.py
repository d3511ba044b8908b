"""Which of two snippets answers better."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.stats.agreement.pairwise import Preference, measure_preference
from annotation.stats.agreement.sample import Draws, Sample

NAN = float("nan")


def told(won: list[float], left: list[bool], queries: list[int], interim: bool = False) -> Preference:
    sample = Sample.of(queries)
    return measure_preference(sample, Draws.of(sample), np.array(won), np.array(left), interim)


def test_by_hand() -> None:
    """Query 1: two wins of the first; 2: a tie; 3: a win each; 4: a win of the second; 5: nobody chose."""
    found = told(
        [1, 1, 0.5, 1, 0, 0, NAN],
        [True, False, True, True, True, False, True],
        [1, 1, 2, 3, 3, 4, 5],
    )
    assert (found.choices, found.ties) == (6, 1)
    assert found.halved.value == pytest.approx(3.5 / 6)
    assert found.decided.value == pytest.approx(3 / 5)
    assert found.left.value == pytest.approx(3 / 5)
    assert (found.for_first, found.for_second, found.even, found.p) == (1, 1, 2, 1)


def test_a_habit_for_one_side_shows() -> None:
    found = told([1, 0, 1, 0] * 10, [True, False, True, False] * 10, list(range(40)))
    assert found.left.value == 1 and "no exception in 40" in found.left.words
    assert found.decided.value == 0.5 and found.decided.method == "Wilson"


def test_only_ties_and_nothing_at_all_are_explained() -> None:
    ties, nothing = told([0.5], [True], [1]), told([NAN], [True], [1])
    assert ties.halved.value == 0.5 and ties.decided.value is None and "tie" in ties.decided.words
    assert nothing.halved.value is None and nothing.halved.words


def test_no_p_while_interim() -> None:
    assert told([1, 1], [True, False], [1, 2], interim=True).p is None
