"""How far the raters of conditions agree."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.stats.agreement.conditions import (
    AlphaDifference,
    Reliability,
    alpha_difference,
    measure_reliability,
)
from annotation.stats.agreement.labels import Labels
from annotation.stats.agreement.reliability import Level, nominal_alpha
from annotation.stats.agreement.sample import Draws
from tests.ratings import annotator, each_its_query, people, table, value

ROWS = ("11001010", "11001100", "10001010")


def told(labels: Labels, *more: Labels, at: float = 1) -> Reliability:
    sample = each_its_query(len(labels.values))
    return measure_reliability(sample, Draws.of(sample), labels, sample.weights, at, more)


def alpha(*rows: str) -> float:
    values = table(*rows)
    return value(nominal_alpha(each_its_query(len(values)), values, np.ones(len(values))))


def test_everything_of_one_condition() -> None:
    found = told(people(*ROWS))
    assert (found.pairs, found.raters, found.labels, found.with_two) == (8, 3, 24, 8)
    assert found.planned == 24
    assert found.alpha[Level.NOMINAL].value == pytest.approx(alpha(*ROWS))
    assert found.prevalence.value == pytest.approx(11 / 24)
    assert len(found.kappas) == 3 and found.gwet is None


def test_without_each_rater_alpha_has_a_range() -> None:
    found = told(people(*ROWS)).without_one
    alphas = {"R1": alpha(*ROWS[1:]), "R2": alpha(ROWS[0], ROWS[2]), "R3": alpha(*ROWS[:2])}
    assert (found.low, found.high) == pytest.approx((min(alphas.values()), max(alphas.values())))


def test_two_raters_have_no_range_and_it_says_why() -> None:
    found = told(people(*ROWS[:2])).without_one
    assert found.low is None and "only two raters" in found.words


def test_a_rater_who_said_nothing_is_none_that_alpha_could_be_without() -> None:
    idle = "*" * 8
    assert told(people(*ROWS, idle)).without_one == told(people(*ROWS)).without_one
    assert "only two raters" in told(people(*ROWS[:2], idle)).without_one.words


def test_a_rater_without_whom_there_is_no_alpha_leaves_no_range() -> None:
    found = told(people("1111", "1111", "0111")).without_one
    assert found.low is None and found.words


def test_one_annotator_more() -> None:
    found = told(people(*ROWS), annotator("11001011")).plus["agent"]
    assert found.value == pytest.approx(alpha(*ROWS, "11001011"))


def test_the_annotator_is_no_second_rater_of_a_pair() -> None:
    found = told(people("1100", "1*01"), annotator("1000")).plus["agent"]
    assert found.value == pytest.approx(alpha("100", "101", "100"))


def test_ac1_stands_beside_where_one_value_passes_nine_tenths() -> None:
    found = told(people("1" * 19 + "0", "1" * 20))
    assert found.largest == pytest.approx(39 / 40)
    assert found.gwet is not None and found.gwet.value is not None and found.gwet.value > 0.9
    assert found.alpha[Level.NOMINAL].value == pytest.approx(0.0)


def test_a_graded_scale_keeps_its_values_for_alpha_and_is_cut_for_matches() -> None:
    found = told(people("0123", "0133"), at=2)
    ordinal, plain = found.alpha[Level.ORDINAL].value, found.alpha[Level.NOMINAL].value
    assert ordinal is not None and plain is not None and ordinal > plain
    assert found.prevalence.value == 0.5


def difference(first: Labels, second: Labels) -> AlphaDifference:
    sample = each_its_query(len(first.values))
    return alpha_difference(sample, Draws.of(sample), first, second, sample.weights, 1)


def test_the_difference_of_two_conditions_on_the_pairs_that_they_share() -> None:
    one = people("110010*0", "110011*0", "100010*1")
    two = people("1110100*", "1100110*", "1000101*", name="reading")
    found = difference(one, two)
    first, second = alpha("110010", "110011", "100010"), alpha("111010", "110011", "100010")
    assert found.pairs == 6
    assert found.difference.value == pytest.approx(first - second)
    assert [one.value for one in found.alphas] == pytest.approx([first, second])
    assert [one.value for one in found.prevalences] == pytest.approx([9 / 18, 10 / 18])


def test_the_same_labels_differ_by_nothing_in_any_draw() -> None:
    found = difference(people(*ROWS), people(*ROWS, name="again")).difference
    assert (found.value, found.low, found.high) == (0, None, None)
    assert "no width" in found.words


def test_conditions_without_a_common_pair_have_no_difference() -> None:
    found = difference(people("10**", "10**"), people("**10", "**10", name="reading"))
    assert found.pairs == 0 and found.difference.value is None and found.difference.words
