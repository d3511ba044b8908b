"""The rows of the main table, by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.stats.agreement.figures import Floats
from annotation.stats.agreement.korn_graubard import effective_sample_size
from annotation.stats.agreement.labels import Labels, majority_labels
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.scores import (
    Confusion,
    Scores,
    Treatment,
    left_out,
    left_out_bound,
    score_annotator_rows,
    score_cell_agreement,
    treat_open_pairs,
)
from annotation.stats.intervals import clopper_pearson, wilson_interval
from tests.ratings import annotator, each_its_query, people

TRUTH = np.array([1.0, 1, 1, 0, 0, 0, 0, 0, 0, 0])
SAID = "1101000000"
"""Both 1: two; only said 1: one; only true 1: one; neither: six."""


def row(
    labels: Labels,
    truth: Floats,
    sample: Sample | None = None,
    treatment: Treatment = Treatment.EXCLUDED,
    settled: Floats | None = None,
) -> Scores:
    of = sample or each_its_query(len(truth))
    against = treat_open_pairs(labels, truth, treatment, settled)
    return score_annotator_rows(of, Draws.of(of), [(against, labels)], of.weights)[0]


def test_a_row_by_hand() -> None:
    """MCC = (2·6 − 1·1) ÷ √(3·3·7·7) = 11 ÷ 21."""
    found = row(annotator(SAID), TRUTH)
    assert found.confusion == Confusion(2, 1, 1, 6)
    assert (found.n, found.pairs, found.open_annotator, found.open_reference) == (10, 10, 0, 0)
    assert [
        one.value for one in (found.accuracy, found.precision, found.recall, found.f1, found.mcc)
    ] == pytest.approx([0.8, 2 / 3, 2 / 3, 2 / 3, 11 / 21])


def test_shares_of_single_pairs_have_wilsons_interval() -> None:
    found = row(annotator(SAID), TRUTH)
    assert (found.accuracy.low, found.accuracy.high) == pytest.approx(wilson_interval(8, 10))
    assert (found.precision.low, found.precision.high) == pytest.approx(wilson_interval(2, 3))


def test_pairs_of_one_query_are_resampled_together() -> None:
    found = row(annotator(SAID * 10), np.tile(TRUTH, 10), Sample.of(np.arange(100) // 2))
    assert found.accuracy.method == "queries resampled" and found.accuracy.queries == 50


def test_always_0_is_right_as_often_as_0_is_and_has_no_precision() -> None:
    found = row(Labels.constant(0, 10), TRUTH)
    assert (found.accuracy.value, found.recall.value) == (0.7, 0)
    assert found.precision.value is None and "never said match" in found.precision.words
    assert found.mcc.value is None and found.mcc.words


def test_weights_count_the_pairs_that_were_not_drawn() -> None:
    """Half/half by label from 90 % zeros (E11): 8 of 10 ones right, 10 of 10 zeros. Plain 18/20; true
    (8 · 1 + 10 · 9) ÷ (10 · 1 + 10 · 9) = 0.98.
    """
    truth = np.array([1.0] * 8 + [0] * 2 + [0] * 10)
    sample = Sample.of(np.arange(20), [0.9] * 10 + [0.1] * 10, [1] * 10 + [0] * 10)
    found = row(annotator("1" * 10 + "0" * 10), truth, sample)
    assert found.accuracy.value == pytest.approx(0.98) and found.accuracy.method == "Korn and Graubard"


def test_an_annotator_that_is_always_right_has_its_bound_with_unequal_weights_too() -> None:
    """Sums of such weights in another order differ in the last digit, which is no spread of the draws. Some
    pairs stand for 100 others: 30 such pairs are worth fewer of equal weights.
    """
    for seed in range(20):
        chances = np.random.default_rng(seed).uniform(0.01, 1, 30)
        truth = np.tile([1.0, 1, 0, 0, 0, 1, 0, 0, 0, 0], 3)
        found = row(Labels.of_annotator("it", truth), truth, Sample.of(np.arange(30), chances)).accuracy
        many = effective_sample_size(1 / chances)
        assert (found.value, found.high) == (1, 1)
        assert found.low == pytest.approx(clopper_pearson(many, many)[0])


def test_queries_without_a_judged_pair_say_nothing_of_f1_and_mcc() -> None:
    """Student's t has one degree less than there are queries with something to say: 8, not 40."""
    truth = np.append([1.0, 1, 0, 0, 1, 0, 1, 0], np.full(32, np.nan))
    found = row(annotator("11010010" + "0" * 32), truth)
    assert found.coverage.queries == 40
    assert [one.queries for one in (found.accuracy, found.f1, found.mcc)] == [8, 8, 8]


def test_open_pairs_lower_the_coverage_and_count_in_nothing_else() -> None:
    truth = np.array([1, np.nan, 1, 0, 0])
    found = row(annotator("11*00"), truth)
    assert (found.n, found.open_annotator, found.open_reference) == (3, 1, 1)
    assert (found.coverage.value, found.accuracy.value) == (0.6, 1)


def test_of_those_who_made_the_reference_every_pair_is_compared_or_open() -> None:
    """Both raters said something of the first pair, either one alone of the next two, nobody of the last."""
    made, sample = people("11**", "0*0*"), each_its_query(4)
    (found,) = score_annotator_rows(sample, Draws.of(sample), [(left_out(made), made)], sample.weights)
    assert (found.n, found.open_reference, found.open_annotator) == (1, 2, 1)


@pytest.mark.parametrize(
    ("treatment", "accuracy", "cells"),
    [
        (Treatment.EXCLUDED, 1, (1, 0, 0, 1)),
        (Treatment.ADJUDICATED, 2 / 3, (1, 1, 0, 1)),
        (Treatment.TIE_0, 2 / 3, (1, 1, 0, 1)),
        (Treatment.TIE_1, 1, (2, 0, 0, 1)),
        (Treatment.RIGHT, 1, (2.5, 0, 0, 2.5)),
        (Treatment.WRONG, 2 / 5, (1, 2.5, 0.5, 1)),
    ],
)
def test_open_pairs_treated_in_each_way(
    treatment: Treatment, accuracy: float, cells: tuple[float, ...]
) -> None:
    """Pairs: both 1; both 0; said 1 of an open one, adjudicated 0; no label of a 0; both open."""
    truth = np.array([1, 0, np.nan, 0, np.nan])
    settled = np.array([np.nan, np.nan, 0, np.nan, np.nan])
    found = row(annotator("101**"), truth, treatment=treatment, settled=settled)
    assert found.accuracy.value == pytest.approx(accuracy)
    assert found.confusion == Confusion(*cells)


def test_people_of_another_condition_share_each_pair() -> None:
    """Pair 1 (a 1) is said by two of three, pair 2 (a 0) by one: (2/3 + 2/3) ÷ 2 right."""
    found = row(people("11", "10", "00"), np.array([1.0, 0.0]))
    assert found.accuracy.value == pytest.approx(2 / 3)
    assert found.accuracy.method == ""


def test_those_who_made_the_reference_stand_against_the_others_and_a_split_counts_half() -> None:
    """110: both 1s see a split (½), the 0 sees two 1s (0): 1/3. 111: 1."""
    made = people("11", "11", "01")
    sample = each_its_query(2)
    found = score_annotator_rows(sample, Draws.of(sample), [(left_out(made), made)], sample.weights)[0]
    assert found.left_out and found.accuracy.value == pytest.approx((1 / 3 + 1) / 2)


@pytest.mark.parametrize(
    ("said", "least", "most"),
    [
        ("11s", (2, 2, 2, 0), (6, 0, 0, 0)),  # a third 0: it alone differs, and the others see a split
        ("10s", (1, 2, 2, 1), (1, 2, 2, 1)),  # either label does the same: half of each
        ("1ss", (1, 2, 2, 1), (6, 0, 0, 0)),
        ("sss", (1, 2, 2, 1), (3, 0, 0, 3)),
        ("1**", (0, 0, 0, 0), (0, 0, 0, 0)),  # nobody else was asked
    ],
)
def test_skipped_labels_of_those_who_made_the_reference(
    said: str, least: tuple[int, ...], most: tuple[int, ...]
) -> None:
    """Cells in sixths of the pair."""
    for cells, right in ((least, False), (most, True)):
        assert left_out_bound(skipping([said]), right).cells[0] * 6 == pytest.approx(cells)


@given(st.lists(st.text("01s*", min_size=3, max_size=3), min_size=1, max_size=4))
def test_whatever_was_skipped_they_agree_within_the_bounds(pairs: list[str]) -> None:
    """Every way to give the skipped labels lies between all wrong and all right, pair by pair."""
    given_ = skipping(pairs)
    low, high = (score_cell_agreement(left_out_bound(given_, right).cells) for right in (False, True))
    for place, said in enumerate(pairs):
        every = product(*("01" if mark == "s" else mark for mark in said))
        found = [score_cell_agreement(left_out(skipping(["".join(one)])).cells)[0] for one in every]
        if np.isnan(found[0]):
            assert np.isnan(low[place]) and np.isnan(high[place])
        else:
            assert (low[place], high[place]) == pytest.approx((min(found), max(found)))


def skipping(pairs: list[str]) -> Labels:
    """A pair a line; s is a label that was asked for and skipped, * one that nobody was asked for."""
    values = [[float(mark) if mark in "01" else float("nan") for mark in said] for said in pairs]
    skips = [[mark == "s" for mark in said] for said in pairs]
    return Labels.of_people("own tests", values, skipped=skips)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=30))
def test_renaming_the_labels_turns_the_matrix_round(pairs: list[tuple[int, int]]) -> None:
    said, true = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    one = row(Labels.of_annotator("it", said), true)
    other = row(Labels.of_annotator("it", 1 - said), 1 - true)
    assert (one.confusion.both, one.confusion.only_annotator) == (
        other.confusion.neither,
        other.confusion.only_reference,
    )
    assert one.accuracy.value == pytest.approx(other.accuracy.value)
    assert one.mcc.value == (None if other.mcc.value is None else pytest.approx(other.mcc.value))


def test_the_reference_is_right_about_itself() -> None:
    made = people("1100", "1000", "1110")
    found = row(Labels.of_annotator("it", majority_labels(made)), majority_labels(made))
    assert (found.accuracy.value, found.mcc.value) == (1, 1)
