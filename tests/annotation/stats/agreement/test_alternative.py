"""The alternative annotator test, by hand and at its edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.stats.agreement.alternative import (
    benjamini_yekutieli,
    by_rater,
    leave_one_out_agreements,
    rater_advantages,
    run_alternative_test,
)
from annotation.stats.agreement.labels import Labels
from annotation.stats.agreement.sample import Draws
from annotation.stats.agreement.statistic import measure_statistics
from tests.ratings import annotator, each_its_query, people


def test_by_hand() -> None:
    """Pair 110, agent 1: against the others of each rater the agent scores ½, ½, 1, the raters ½, ½, 0.
    Pair 111, agent 0: 0, 0, 0 against 1, 1, 1. Agent (½ + ½ + 1) ÷ 6 = 1/3, people (½ + ½ + 3) ÷ 6 = 2/3.
    """
    sample = each_its_query(2)
    found = run_alternative_test(
        sample, Draws.of(sample), annotator("10"), people("11", "11", "01"), sample.weights, margin=0.1
    )
    assert (found.agrees.value, found.people_agree.value) == pytest.approx((1 / 3, 2 / 3))
    assert found.difference.value == pytest.approx(-1 / 3)
    assert found.n == 2 and found.margin is not None


def test_with_few_pairs_nobody_is_tested_and_it_says_so() -> None:
    sample = each_its_query(2)
    found = run_alternative_test(
        sample, Draws.of(sample), annotator("11"), people("11", "11"), sample.weights
    )
    assert found.winning is None and "30 pairs" in found.words
    assert [(one.n, one.p, one.wins) for one in found.raters] == [(2, None, None)] * 2


@pytest.mark.parametrize(("wrong", "winning"), [(0, 1.0), (40, 0.0)])
def test_a_perfect_annotator_wins_and_a_bad_one_does_not(wrong: int, winning: float) -> None:
    truth = np.arange(60) % 2.0
    raters = np.tile(truth[:, None], 3)
    raters[:3, 0] = 1 - raters[:3, 0]
    labels = np.where(np.arange(60) < wrong, 1 - truth, truth)
    sample = each_its_query(60)
    found = run_alternative_test(
        sample,
        Draws.of(sample),
        Labels.of_annotator("agent", labels),
        Labels.of_people("own tests", raters),
        sample.weights,
    )
    assert found.winning == winning and not found.words


def test_the_test_of_a_rater_rests_on_that_raters_queries() -> None:
    """Two raters of all 90 pairs, a third one of 30: by Student's t with 29 degrees that one's p is larger
    than by the 89 of the others.
    """
    generator = np.random.default_rng(2)
    truth = np.arange(90) % 2.0
    raters = np.abs(truth[:, None] - (generator.random((90, 3)) < 0.15))
    raters[30:, 2] = np.nan
    people, agent = Labels.of_people("own tests", raters), Labels.of_annotator("agent", truth)
    sample = each_its_query(90)
    columns, _ = by_rater(sample, *leave_one_out_agreements(agent, people), sample.weights)
    drawn = measure_statistics(Draws.of(sample), rater_advantages(columns, 3, 0.2))
    assert [drawn[str(rater)].queries for rater in range(3)] == [90, 90, 30]


def test_an_annotator_without_labels_has_no_figures_but_words() -> None:
    sample = each_its_query(2)
    found = run_alternative_test(
        sample, Draws.of(sample), annotator("**"), people("11", "10"), sample.weights
    )
    assert found.n == 0 and found.difference.value is None and found.difference.words


@given(st.permutations(range(3)))
def test_whoever_is_called_first_changes_nothing(order: list[int]) -> None:
    sample, rows = each_its_query(6), ["110100", "110001", "010101"]
    found = [
        run_alternative_test(sample, Draws.of(sample), annotator("110101"), people(*given), sample.weights)
        for given in (rows, [rows[one] for one in order])
    ]
    assert found[0].difference.value == pytest.approx(found[1].difference.value)


def test_people_of_another_condition_score_as_the_mean_of_each_of_them() -> None:
    """Others split, 1, 1 for the raters of 110: ½, ½, 1 for a 1 and ½, ½, 0 for a 0: (2/3 + 1/3) ÷ 2."""
    sample, own = each_its_query(1), people("1", "1", "0")
    found = run_alternative_test(
        sample, Draws.of(sample), people("1", "0", name="reading"), own, sample.weights
    )
    assert found.agrees.value == pytest.approx(0.5)


def test_a_rater_who_copies_the_annotator_scores_like_it() -> None:
    sample = each_its_query(4)
    found = run_alternative_test(
        sample, Draws.of(sample), annotator("1010"), people("1010", "1110", "1000"), sample.weights
    )
    assert found.raters[0].annotator == found.raters[0].person


def test_the_correction_by_hand() -> None:
    """Three tests: bars 0.05 · rank ÷ (3 · (1 + 1/2 + 1/3)) = 0.0091, 0.0182, 0.0273; the second is too high,
    the third falls and takes both others with it.
    """
    assert benjamini_yekutieli([0.001, 0.02, 0.027, None]) == [True, True, True, False]
    assert benjamini_yekutieli([0.02, 0.02, 0.03]) == [False, False, False]
