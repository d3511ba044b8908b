"""Draws, and what figures are made of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from annotation.stats.agreement.figures import (
    expanded_percentile,
    percentiles_without_nan,
    student_tail_probability,
)
from annotation.stats.agreement.sample import BadSample, Draws, Sample
from annotation.stats.agreement.scores import f1
from annotation.stats.agreement.statistic import Statistic, first_two, measure_statistics, share_of
from annotation.stats.intervals import clopper_pearson, wilson_interval
from tests.ratings import each_its_query


def of(columns: Sequence[Sequence[float]], plain: bool = False) -> Statistic:
    return share_of(np.array(columns, dtype=float), "nobody said anything", plain)


def test_where_all_draws_are_alike_the_bound_is_not_the_value() -> None:
    """Of 59 queries without a difference: 1 − 0.05^(1 ÷ 59) = 4.95 % may have one; of 3, 63 %."""
    for many, bound in ((59, -0.0495), (3, -0.632)):
        sample = each_its_query(many)
        columns = np.column_stack([np.zeros(many), np.ones(many)])
        none = share_of(columns).minus(share_of(columns))
        found = measure_statistics(Draws.of(sample), {"difference": none})["difference"]
        assert found.value == 0 and found.at_least == pytest.approx(bound, abs=0.0005)


def test_draws_are_the_same_every_time_and_add_up_to_the_stratum() -> None:
    strata = np.array([0] * 7 + [1] * 3)
    first, again = Draws(strata), Draws(strata)
    sums = first.sums(np.eye(10))
    assert (sums == again.sums(np.eye(10))).all()
    assert sums[:, :7].sum(axis=1) == pytest.approx(7) and sums[:, 7:].sum(axis=1) == pytest.approx(3)


def test_draws_have_the_spread_of_the_sample_not_a_smaller_one() -> None:
    """The variance of a sum of n independent values is n · s² with s² over n − 1: here 6 · 3.5 = 21."""
    values = np.arange(1.0, 7.0)[:, None]
    drawn = Draws(np.zeros(6, dtype=np.int64), size=200_000).sums(values)
    assert drawn.var() == pytest.approx(21, rel=0.02)


def test_large_samples_are_drawn_in_blocks_that_add_up_too() -> None:
    draws = Draws.even(30_000)
    assert draws.step < draws.size
    assert draws.sums(np.ones((30_000, 1)))[:, 0] == pytest.approx(30_000)


def test_columns_that_are_alike_have_the_same_sums_to_the_last_digit() -> None:
    draws, columns = Draws.even(6), np.sqrt(np.arange(18.0)).reshape(6, 3)
    sums = draws.sums(columns[:, [0, 2, 1, 2]])
    assert sums == pytest.approx(draws.counts @ columns[:, [0, 2, 1, 2]])
    assert (sums[:, 1] == sums[:, 3]).all()


def test_no_column_has_no_sums() -> None:
    assert Draws.even(4).sums(np.zeros((4, 0))).shape == (1000, 0)


def test_a_query_alone_in_its_stratum_joins_another_one() -> None:
    drawn = Draws(np.array([0, 1, 1, 1, 2])).sums(np.eye(5))
    assert drawn.std(axis=0).all() and drawn.sum(axis=1) == pytest.approx(5)


def test_a_query_belongs_to_the_stratum_of_most_of_its_pairs() -> None:
    assert Sample.of([5, 5, 5, 9, 9], strata=[1, 2, 2, 2, 1]).stratum.tolist() == [1, 0]


@pytest.mark.parametrize("chances", [[0.5], [0.0, 1.0], [0.5, 1.1], [0.5, float("nan")]])
def test_what_is_no_sample_is_refused(chances: list[float]) -> None:
    with pytest.raises(BadSample):
        Sample.of([1, 2], chances)


def test_weights_are_one_over_the_chance_and_1_on_average() -> None:
    assert Sample.of([1, 2, 3], [0.5, 0.5, 0.25]).weights == pytest.approx([0.75, 0.75, 1.5])


def test_an_empty_sample_has_no_figures_and_breaks_nothing() -> None:
    sample = Sample.of([])
    found = measure_statistics(
        Draws.of(sample), {"it": share_of(sample.sums(np.zeros((0, 2))), "nobody was asked")}
    )
    assert found["it"].figure.value is None and found["it"].figure.words == "nobody was asked"


def test_what_has_no_value_says_why() -> None:
    found = measure_statistics(Draws.even(2), {"it": of([[0, 0], [0, 0]])})["it"].figure
    assert (found.value, found.low, found.words) == (None, None, "nobody said anything")


def test_one_query_has_nothing_to_resample() -> None:
    found = measure_statistics(Draws.even(1), {"it": of([[3, 5]])})["it"].figure
    assert found.value == 0.6 and found.low is None and "one query" in found.words


def test_too_many_draws_without_a_value_leave_no_interval_and_are_counted() -> None:
    """Two of six queries say something: a draw of five has neither with (2/3)⁵ = 13 %."""
    found = measure_statistics(Draws.even(6), {"it": of([(1, 2), (0, 1), *[(0, 0)] * 4])})["it"].figure
    assert found.low is None and 0.09 < found.undefined < 0.17 and "too often" in found.words


def test_a_plain_share_has_wilsons_interval() -> None:
    found = measure_statistics(Draws.even(100), {"it": of([[1, 1]] * 97 + [[0, 1]] * 3, plain=True)})[
        "it"
    ].figure
    assert (found.low, found.high) == pytest.approx(wilson_interval(97, 100)) and found.method == "Wilson"
    assert not found.words


def test_no_miss_in_clusters_shows_the_rule_of_three_over_queries() -> None:
    found = measure_statistics(Draws.even(40), {"it": of([[10, 10]] * 40)})["it"].figure
    assert (found.value, found.low, found.high) == pytest.approx((1, clopper_pearson(40, 40)[0], 1))
    assert "no exception in 40: by the rule of three at most 7.5 %" in found.words


def test_draws_that_do_not_spread_make_no_interval() -> None:
    """A perfect F1 of eight pairs is not known to be perfect."""
    columns = np.repeat([[1.0, 0.0, 0.0, 1.0]], 8, axis=0)
    found = measure_statistics(Draws.even(8), {"f1": Statistic(columns, f1)})["f1"].figure
    assert (found.value, found.low, found.high, found.method) == (1, None, None, "")
    assert "no width" in found.words


def test_a_difference_is_of_the_same_draws() -> None:
    """Two shares that move together differ by a constant in every draw."""
    one = of([[value, 10] for value in (5, 6, 7, 8) * 10])
    two = of([[value - 1, 10] for value in (5, 6, 7, 8) * 10])
    found = measure_statistics(Draws.even(40), {"it": one.minus(two)})["it"]
    assert found.value == pytest.approx(0.1)
    assert found.draws == pytest.approx(np.full(1000, 0.1))


def test_statistics_that_share_columns_share_their_sums() -> None:
    columns = np.array([[1.0, 2.0], [3.0, 4.0], [2.0, 2.0]])
    made = measure_statistics(
        Draws.even(3), {"part": share_of(columns), "rest": share_of(columns, parts=swapped)}
    )
    assert made["part"].draws == pytest.approx(1 / made["rest"].draws)


def swapped(
    sums: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> tuple[
    np.ndarray[tuple[int, ...], np.dtype[np.float64]], np.ndarray[tuple[int, ...], np.dtype[np.float64]]
]:
    part, whole = first_two(sums)
    return whole, part


def test_few_queries_are_said_to_be_few() -> None:
    few, enough = (
        measure_statistics(Draws.even(many), {"it": of([[1, 2], [0, 2]] * (many // 2))})["it"].figure
        for many in (28, 30)
    )
    assert few.few and not enough.few


def test_percentiles_are_those_of_numpy_and_know_no_nan() -> None:
    values = np.random.default_rng(1).normal(size=101)
    expected = np.percentile(values, [2.5, 40, 97.5, 100])
    assert percentiles_without_nan(np.append(values, np.nan), 2.5, 40, 97.5, 100) == pytest.approx(expected)
    assert np.isnan(percentiles_without_nan(np.array([np.nan]), 50)).all()


def test_few_queries_reach_further_out() -> None:
    """Student's t with 29 degrees at 97.5 % is 2.0452, which the normal distribution has at 97.958 %; the
    probability above 2.0452 is 2.5 % again.
    """
    assert expanded_percentile(1.959964, 30) == pytest.approx(97.958, abs=1e-3)
    assert expanded_percentile(1.959964, 10**6) == pytest.approx(97.5, abs=1e-4)
    assert student_tail_probability(2.0452, 30) == pytest.approx(0.025, abs=1e-4)
    assert student_tail_probability(-2.0452, 30) == pytest.approx(0.975, abs=1e-4)
