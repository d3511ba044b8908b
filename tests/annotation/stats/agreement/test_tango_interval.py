"""Differences that few queries have: against published numbers, and how often they hold and deceive."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import sqrt
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial import Polynomial

from annotation.stats.agreement.alternative import run_alternative_test
from annotation.stats.agreement.differences import AnnotatorComparison, compare_annotators
from annotation.stats.agreement.labels import Labels
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.scores import Treatment, treat_open_pairs
from annotation.stats.agreement.statistic import ONE_SIDED
from annotation.stats.agreement.tango_interval import Apart, tango_lower_bound
from annotation.stats.intervals import Z, clopper_pearson
from tests.ratings import annotator, each_its_query, people

STUDIES: Final = int(os.environ.get("COSQA_TEST_STUDIES", "1000"))
"""Made-up studies: rates near 5 % are known to a point, and of 20,000, which take minutes, to a quarter."""
Array = np.ndarray[Any, Any]


def tango(one: int, two: int, pairs: int) -> tuple[float, float]:
    ends = (
        tango_lower_bound(first / pairs, second / pairs, pairs, Z)
        for first, second in ((one, two), (two, one))
    )
    low, high = ends
    return low, -high


def test_it_is_the_published_interval() -> None:
    """Airway hyper-responsiveness of 21 children: 1 against 7 (Fagerland, Lydersen and Laake 2014)."""
    assert tango(1, 7, 21) == pytest.approx((-0.517, -0.026), abs=5e-4)


@given(st.integers(2, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.integers(0, n), st.just(n))))
def test_both_ends_are_roots_of_the_equation_without_iterations(numbers: tuple[int, int, int]) -> None:
    """Where the share that nobody knows is put into the score, its square is Z² at roots of a polynomial of
    the fourth degree (Yang, Sun and Hardin 2013, Statistics in Medicine 32:1336).
    """
    pairs = numbers[2]
    one, two = numbers[0], min(numbers[1], pairs - numbers[0])
    far, true = (one - two) / pairs, Polynomial([0, 1])
    twice = pairs / Z**2 * (far - true) ** 2 - true * (1 - true)
    linear = (2 - far) * true - (one + two) / pairs
    roots: Array = (twice**2 + linear * twice - 2 * two / pairs * true * (1 - true)).roots()
    low, high = tango(one, two, pairs)
    assert low <= far <= high
    for end in (low, high):
        assert abs(end) > 1 - 1e-6 or np.abs(roots - end).min() < 1e-5


def apart(differences: Sequence[float], each: int = 1, weights: Sequence[float] | None = None) -> Apart:
    many = len(differences)
    found = Apart.of(
        Sample.of(np.arange(many) // each),
        np.array(differences)[:, None],
        np.ones((many, 1)) if weights is None else np.array(weights)[:, None],
    )
    assert found is not None
    return found


def test_what_is_apart_is_counted_by_weight() -> None:
    """Of weights 2, 1, 1: the first is ahead in 2 of 4, behind by a half in 1 of 4."""
    found = apart([1, -0.5, 0], weights=[2, 1, 1])
    assert (found.ahead, found.behind, found.queries_apart) == (0.5, 0.125, 2)
    assert found.square == pytest.approx((2 + 0.25) / 4) and found.value == 0.375
    assert found.pairs == found.queries == pytest.approx(16 / 6)
    assert Apart.of(each_its_query(1), np.ones((1, 1)), np.zeros((1, 1))) is None


def test_pairs_of_a_query_are_worth_fewer() -> None:
    """Ten a query, alike by 0.1: 300 pairs as 300 ÷ 1.9; each of its own query all of them."""
    assert apart([1] + [0] * 299, each=10).most == pytest.approx(300 / 1.9)
    assert apart([1] + [0] * 299).most == 300


def test_as_many_pairs_count_as_vary_as_much() -> None:
    """Where the draws vary as 100 pairs would, they are 100; less than all pairs would is not believed."""
    found, endless = apart([1] * 3 + [0] * 297), 10**7
    alone = 0.01 * 0.99
    assert found.many(alone / 100, endless, 1) == pytest.approx(100, rel=0.02)
    assert found.many(alone / 900, endless, 1) == pytest.approx(300, rel=0.02)
    third = apart([1 / 3] * 3 + [0] * 297)  # three pairs that one of three raters sees otherwise
    assert third.many(0, endless, 1) * third.ahead == pytest.approx(3, rel=0.02)


def test_few_is_fewer_than_thirty_queries_and_not_most_of_them() -> None:
    assert apart([1] * 29 + [0] * 71).few and not apart([1] * 30 + [0] * 70).few
    assert apart([1] * 5 + [0] * 5).few and not apart([1] * 6 + [0] * 4).few


def test_who_is_never_apart_may_be_in_what_nobody_saw() -> None:
    """Each query is one: none of 20 leaves 17 % open on either side, and 14 % on one."""
    found = apart([0] * 100, each=5)
    most = clopper_pearson(0, 20)[1]
    assert found.interval(20) == pytest.approx((-most, most)) and most == pytest.approx(0.168, abs=1e-3)
    assert found.at_least(20, ONE_SIDED) == pytest.approx(0.05 ** (1 / 20) - 1)
    assert found.p(20) == 1


def test_p_is_below_5_percent_where_the_interval_leaves_0_out() -> None:
    for one in range(12):
        found = apart([1] * one + [-1] * 2 + [0] * (98 - one))
        low, high = found.interval(100)
        assert (found.p(100) < 0.05) is not (low <= 0 <= high)


def test_one_query_alone_has_neither_bound_nor_p() -> None:
    sample = Sample.of([1] * 12)
    truth = np.ones(12)
    one, two = (
        treat_open_pairs(annotator(labels, labels), truth, Treatment.EXCLUDED)
        for labels in ("1" * 12, "0" + "1" * 11)
    )
    found = compare_annotators(sample, Draws.of(sample), one, two, sample.weights, margin=0.1)
    assert found.margin is not None
    assert (found.difference.low, found.p, found.margin.kept) == (None, None, None)


def test_those_who_agree_everywhere_differ_by_no_more_than_the_rule_of_three() -> None:
    sample, truth = Sample.of(np.arange(60) // 2), np.ones(60)
    one, two = (
        treat_open_pairs(annotator("1" * 60, name), truth, Treatment.EXCLUDED) for name in ("one", "two")
    )
    found = compare_annotators(sample, Draws.of(sample), one, two, sample.weights, margin=0.1)
    assert (found.difference.value, found.method, found.p) == (0, "Tango's score", 1)
    assert found.difference.high == pytest.approx(clopper_pearson(0, 30)[1])
    assert "none in 30: by the rule of three at most 10.0 %" in found.difference.words
    assert found.margin is not None and found.margin.kept is True


def test_people_and_a_stand_in_who_are_seldom_apart_have_it_too() -> None:
    """One label of one rater in 40 pairs is other than the agent's: of 120 comparisons one is won."""
    sample = each_its_query(40)
    agent, raters = annotator("1" * 40), people("0" + "1" * 39, "1" * 40, "1" * 40)
    found = run_alternative_test(sample, Draws.of(sample), agent, raters, sample.weights, margin=0.1)
    assert found.difference.value == pytest.approx(1 / 120) and found.difference.method == "Tango"
    assert found.difference.low is not None
    assert (
        tango_lower_bound(1 / 120, 0, 100, Z) < found.difference.low < tango_lower_bound(1 / 120, 0, 140, Z)
    )
    assert found.margin is not None and found.margin.kept


def design(pairs: int, each: int, weighted: bool) -> Sample:
    """Half of the pairs are of a stratum that is 79 % of all: the others were drawn with every chance."""
    kinds: Array = np.arange(pairs) % 2 if each > 1 else np.arange(pairs) // (pairs // 2)
    chances = np.where(kinds == 1, 1.0, 0.42 / 1.58) if weighted else np.ones(pairs)
    return Sample.of(np.arange(pairs) // each, chances, kinds if weighted else None)


def studies(sample: Sample, ahead: float, behind: float, generator: np.random.Generator) -> Array:
    """How far the first is ahead in each pair of STUDIES studies: 1, 0, −1. Queries of several pairs have
    rates of their own (their intraclass correlation is 1/7).
    """

    def rates(rate: float) -> Array:
        if len(sample) == sample.size or not rate:
            return np.full((STUDIES, len(sample)), rate)
        return generator.beta(6 * rate, 6 * (1 - rate), (STUDIES, sample.size))[:, sample.cluster]

    thrown = generator.random((STUDIES, len(sample)))
    return np.subtract(thrown > 1 - rates(ahead), thrown < rates(behind), dtype=float)


def compared(sample: Sample, draws: Draws, far: Array, margin: float) -> AnnotatorComparison:
    truth = np.ones(len(sample))
    one, two = (
        treat_open_pairs(Labels.of_annotator(name, right.astype(float)), truth, Treatment.EXCLUDED)
        for name, right in (("one", far >= 0), ("two", far <= 0))
    )
    return compare_annotators(sample, draws, one, two, sample.weights, margin)


@pytest.mark.parametrize("ahead", [0.0, 0.01])
@pytest.mark.parametrize(
    ("pairs", "each", "weighted", "margin"),
    [
        (300, 1, True, 0.02),
        (300, 1, False, 0.02),
        (100, 1, True, 0.05),
        (300, 10, True, 0.05),
        (300, 10, False, 0.05),
        (600, 20, True, 0.02),
        (1000, 10, True, 0.02),
    ],
)
def test_what_is_worse_by_the_margin_is_seldom_called_non_inferior(
    pairs: int, each: int, weighted: bool, margin: float, ahead: float
) -> None:
    """The draws called it so in 6 to 17 % of studies instead of 5 %, and held the truth in 86 to 94 %."""
    sample, generator = design(pairs, each, weighted), np.random.default_rng(41)
    draws = Draws(sample.stratum, size=500)
    made = studies(sample, ahead, ahead + margin, generator)
    found = [compared(sample, draws, far, margin) for far in made]
    deceived = sum(bool(one.margin and one.margin.kept) for one in found) / STUDIES
    held = sum(holds(one, -margin) for one in found) / STUDIES
    noise = sqrt(0.05 * 0.95 / STUDIES)
    assert deceived <= 0.05 + 1.5 * noise, deceived
    assert held >= 0.94 - 1.5 * noise, held


def holds(found: AnnotatorComparison, value: float) -> bool:
    assert found.difference.low is not None and found.difference.high is not None
    return found.difference.low <= value <= found.difference.high


@pytest.mark.parametrize(("pairs", "each"), [(300, 1), (300, 10), (1000, 10)])
def test_who_is_as_good_is_seldom_called_worse(pairs: int, each: int) -> None:
    sample, generator = design(pairs, each, True), np.random.default_rng(42)
    draws, alarms = Draws(sample.stratum, size=500), 0
    for far in studies(sample, 0.02, 0.02, generator):
        p = compared(sample, draws, far, 0.02).p
        assert p is not None
        alarms += p < 0.05
    assert alarms / STUDIES <= 0.065
