"""The test behind the drift check: exact, and right however much a model wavers."""

from __future__ import annotations

import random

import pytest

from annotation.builds.drift.chance import (
    ALPHA,
    Answer,
    OddOnes,
    count_answer_moves,
    level_of,
    move_of,
    odd_ones,
)


def test_the_probability_is_the_upper_end_of_a_binomial_with_a_third() -> None:
    # 3 of 4: (4 · 2 + 1) / 81 = 9/81; 4 of 4: 1/81
    assert OddOnes(4, 3).p_value == pytest.approx(9 / 81)
    assert OddOnes(4, 4).p_value == pytest.approx(1 / 81)
    assert OddOnes(4, 0).p_value == 1.0
    assert OddOnes(0, 0).p_value == 1.0


def test_only_pairs_with_one_answer_unlike_both_others_say_anything() -> None:
    same, new, was_first, was_second, all_three = (1, 1, 1), (1, 1, 0), (0, 1, 1), (1, 0, 1), (0, 0.5, 1)
    found = odd_ones([same, new, was_first, was_second, all_three])
    assert found == OddOnes(apart=3, odd=1)


def test_no_verdict_is_an_answer_of_its_own_and_never_a_zero() -> None:
    assert odd_ones([(0, 0, None), (None, None, None), (None, None, 0)]) == OddOnes(2, 2)
    moves = count_answer_moves([(0, None), (None, 1), (0, 0.5), (1, 0), (None, None)])
    assert moves == {"agreed": 1, "higher": 1, "lower": 1, "judged_once": 2}


def test_each_pair_moves_one_way() -> None:
    moves = [move_of(*pair) for pair in ((0, 0.5), (1, 0), (0, None), (None, 0), (None, None), (1, 1))]
    assert moves == ["higher", "lower", "judged_once", "judged_once", "agreed", "agreed"]


def test_a_build_with_many_checks_takes_more_for_a_shift() -> None:
    assert level_of(41) == pytest.approx(ALPHA / 41)
    assert level_of(0) == ALPHA
    # What decision 20 says of a model that never wavers: 5 of 50 pairs with one check, 8 with 41.
    assert OddOnes(5, 5).p_value < level_of(1) < OddOnes(4, 4).p_value
    assert OddOnes(8, 8).p_value < level_of(41) < OddOnes(7, 7).p_value


def draws(dice: random.Random, wavering: list[float], shift: float = 0.0) -> list[Answer]:
    """One answer to each pair: 0.5 with its own probability, else what it always says."""
    return [0.5 if dice.random() < min(1.0, share + shift) else 1.0 for share in wavering]


def alarms(shift: float, rounds: int) -> float:
    """The share of checks at 0.05 that see a model in whose pairs 0.5 is by `shift` more probable."""
    dice, found = random.Random(20), 0
    for _ in range(rounds):
        wavering = [dice.betavariate(0.3, 2.0) for _ in range(50)]
        first, again = draws(dice, wavering), draws(dice, wavering)
        now = draws(dice, wavering, shift)
        found += odd_ones(zip(first, again, now, strict=True)).p_value < 0.05
    return found / rounds


def test_a_model_that_wavers_differently_from_pair_to_pair_is_no_shift() -> None:
    assert alarms(0.0, 2000) < 0.05


def test_a_model_that_has_become_less_sure_is_one() -> None:
    assert alarms(0.3, 300) > 0.8
