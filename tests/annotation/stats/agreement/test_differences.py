"""Tests of differences against their definitions and published numbers."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.stats.agreement.differences import (
    Margin,
    compare_annotators,
    holm_correction,
    mcnemar_mid_p,
    sign_test,
)
from annotation.stats.agreement.labels import Labels
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.scores import Treatment, treat_open_pairs
from tests.ratings import each_its_query, people


def test_mid_p_of_the_published_example() -> None:
    """Fagerland et al. 2013, airway hyper-responsiveness: 1 against 7; exact 0.0703, mid-p 0.0391."""
    assert mcnemar_mid_p(1, 7) == mcnemar_mid_p(7, 1) == pytest.approx(0.0391, abs=5e-5)
    assert sign_test(1, 7) == pytest.approx(0.0703, abs=5e-5)


def test_nothing_that_differs_has_p_1() -> None:
    assert mcnemar_mid_p(0, 0) == mcnemar_mid_p(4, 4) == sign_test(0, 0) == 1
    assert sign_test(1001, 1001) == sign_test(1000, 1001) == 1


@given(st.integers(0, 40), st.integers(0, 40))
def test_mid_p_is_its_definition(one: int, two: int) -> None:
    many, low = one + two, min(one, two)
    exact = min(1.0, 2 * sum(comb(many, k) for k in range(low + 1)) / 2**many)
    expected = exact - comb(many, low) / 2**many if one != two else 1.0
    assert mcnemar_mid_p(one, two) == pytest.approx(expected)


def test_thousands_of_pairs_go_on_where_the_exact_sum_ends() -> None:
    assert mcnemar_mid_p(950, 1050) == pytest.approx(mcnemar_mid_p(951, 1051), abs=5e-4)
    assert 0 < mcnemar_mid_p(190_000, 191_000) < 0.2


def test_holm_by_hand() -> None:
    """0.01 · 3, 0.02 · 2, 0.03 · 1 but never below the one before; None stays."""
    assert holm_correction([0.03, None, 0.01, 0.02]) == pytest.approx([0.04, None, 0.03, 0.04], nan_ok=True)
    assert holm_correction([0.6, 0.7]) == [1, 1]


def labels(right: str, name: str) -> Labels:
    """An annotator that is right where there is a 1; the truth is all ones."""
    return Labels.of_annotator(name, [float(one) for one in right])


def test_one_against_one_is_mcnemar() -> None:
    sample, truth = each_its_query(12), np.ones(12)
    one = treat_open_pairs(labels("111111110111", "one"), truth, Treatment.EXCLUDED)
    two = treat_open_pairs(labels("111100001111", "two"), truth, Treatment.EXCLUDED)
    found = compare_annotators(sample, Draws.of(sample), one, two, sample.weights, margin=0.1)
    assert (found.n, found.method, found.p) == (12, "mid-p McNemar", mcnemar_mid_p(4, 1))
    assert found.difference.value == pytest.approx(3 / 12)
    assert found.margin is not None and found.margin.lower is not None
    assert found.margin.kept is (found.margin.lower > -0.1)


def test_clusters_or_several_raters_take_the_bootstrap() -> None:
    truth = np.ones(12)
    one, two = (
        treat_open_pairs(labels(right * 4, name), truth, Treatment.EXCLUDED)
        for name, right in (("one", "110"), ("two", "001"))
    )
    crowd = treat_open_pairs(people("110" * 4, "001" * 4), truth, Treatment.EXCLUDED)
    clustered, single = Sample.of(np.arange(12) // 3), each_its_query(12)
    for sample, second in ((clustered, two), (single, crowd)):
        found = compare_annotators(sample, Draws.of(sample), one, second, sample.weights)
        assert found.method == "query bootstrap" and found.margin is None


def test_only_common_pairs_count() -> None:
    sample, truth = each_its_query(4), np.ones(4)
    one = treat_open_pairs(Labels.of_annotator("one", [1, 1, np.nan, 0]), truth, Treatment.EXCLUDED)
    two = treat_open_pairs(Labels.of_annotator("two", [np.nan, 1, 1, 1]), truth, Treatment.EXCLUDED)
    found = compare_annotators(sample, Draws.of(sample), one, two, sample.weights)
    assert found.n == 2 and found.difference.value == -0.5


def test_nothing_in_common_has_neither_difference_nor_p() -> None:
    sample, truth = each_its_query(2), np.ones(2)
    one, two = (
        treat_open_pairs(Labels.of_annotator(name, given), truth, Treatment.EXCLUDED)
        for name, given in (("one", [1, np.nan]), ("two", [np.nan, 1]))
    )
    found = compare_annotators(sample, Draws.of(sample), one, two, sample.weights, margin=0.1)
    assert (found.n, found.difference.value, found.p) == (0, None, None)
    assert found.margin == Margin(0.1, None) and found.margin.kept is None


def test_equal_in_every_draw_is_p_1() -> None:
    sample, truth = Sample.of(np.arange(12) // 2), np.ones(12)
    one, two = (
        treat_open_pairs(labels("1" * 11 + "0", name), truth, Treatment.EXCLUDED) for name in ("one", "two")
    )
    assert compare_annotators(sample, Draws.of(sample), one, two, sample.weights).p == 1
