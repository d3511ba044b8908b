"""Shares with few exceptions: by hand, and whether their intervals hold the truth as often as they say."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

from annotation.stats.agreement.figures import Figure
from annotation.stats.agreement.korn_graubard import (
    FEW_EXCEPTIONS,
    count_exception_queries,
    effective_sample_size,
    exact_share_interval,
)
from annotation.stats.agreement.prediction_powered import Stratum, estimate_whole_build
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.scores import Against, statistics_of
from annotation.stats.agreement.statistic import Drawn, measure_statistics, share_of
from annotation.stats.intervals import clopper_pearson
from tests.ratings import each_its_query

STUDIES: Final = 400
RIGHT: Final = 0.98
Array = np.ndarray[Any, Any]


def test_weights_are_worth_as_many_pairs_of_equal_weights() -> None:
    """Kish: (2 + 1 + 1)² ÷ (4 + 1 + 1) = 2.67; what does not count is worth nothing."""
    assert effective_sample_size(np.array([2.0, 1, 1, 0])) == pytest.approx(16 / 6)
    assert effective_sample_size(np.ones(7)) == 7 and effective_sample_size(np.zeros(2)) == 0


def test_exceptions_are_queries_with_a_hit_or_with_a_miss_which_are_fewer() -> None:
    part, all_of = np.array([2.0, 2, 1, 0]), np.array([2.0, 2, 2, 0])
    assert count_exception_queries(part, all_of) == count_exception_queries(all_of - part, all_of) == 1


def test_it_is_clopper_and_pearsons_of_the_pairs_that_vary_as_much() -> None:
    """p = 0.02 with a variance of 0.02 · 0.98 ÷ 100: as of 100 pairs, where 300 could not say more."""
    variance = 0.02 * 0.98 / 100
    assert exact_share_interval(0.02, variance, 300, 10**6, 1) == pytest.approx(
        clopper_pearson(2, 100), abs=1e-3
    )
    assert exact_share_interval(0.02, variance, 50, 10**6, 1) == pytest.approx(clopper_pearson(1, 50))
    assert exact_share_interval(0.02, 0, 50, 10**6, 1) == pytest.approx(clopper_pearson(1, 50))


def test_few_queries_beyond_the_strata_make_it_wider() -> None:
    """Student's t with 28 degrees is 2.0484, with 299 1.9679: 300 pairs count as 276.9."""
    many = 300 * (1.9679 / 2.0484) ** 2
    found = exact_share_interval(0.02, 0.02 * 0.98 / 300, 300, 30, 2)
    assert found == pytest.approx(clopper_pearson(0.02 * many, many), abs=1e-5)


def drawn(errors: int, pairs: int = 300) -> Drawn:
    """A share of so many pairs in which the first ones, of the larger weight, are wrong."""
    weights: Array = np.repeat([1.58, 0.42], pairs // 2)
    part = np.where(np.arange(pairs) < errors, 0, weights)
    statistic = share_of(np.column_stack([part, weights]), pairs=effective_sample_size(weights))
    return measure_statistics(Draws.of(each_its_query(pairs)), {"it": statistic})["it"]


def test_one_weighted_error_in_many_pairs_has_an_exact_interval() -> None:
    """Percentiles of the draws end at 1 − 0.0158; one heavy error of 300 leaves up to 2.9 % open."""
    found = drawn(1).figure
    assert found.method == "Korn and Graubard" and found.high is not None and found.high < 1
    assert found.low == pytest.approx(1 - 0.0290, abs=1e-3)


def test_from_so_many_exceptions_on_queries_are_resampled() -> None:
    methods = [drawn(errors).figure.method for errors in (0, FEW_EXCEPTIONS - 1, FEW_EXCEPTIONS)]
    assert methods == ["Korn and Graubard", "Korn and Graubard", "queries resampled"]


def studies(each: int, weighted: bool, seed: int) -> tuple[Sample, Array]:
    """A sample of 300 pairs, half of them of the label of 21 % of all, and in STUDIES studies whether each
    pair is right: queries have rates of their own where they have several pairs.
    """
    generator = np.random.default_rng(seed)
    kinds: Array = np.arange(300) % 2 if each > 1 else np.arange(300) // 150
    chances = np.where(kinds == 1, 1.0, 0.42 / 1.58) if weighted else np.ones(300)
    sample = Sample.of(np.arange(300) // each, chances, kinds if weighted else None)
    wrong = generator.beta(6 * (1 - RIGHT), 6 * RIGHT, (STUDIES, sample.size))[:, sample.cluster]
    return sample, generator.random((STUDIES, 300)) >= wrong


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("each", [10, 1])
def test_accuracy_near_1_is_held_as_often_as_intervals_say(each: int, weighted: bool) -> None:
    sample, right = studies(each, weighted, 31)
    draws, held = Draws.of(sample), 0
    for one in right:
        cells = Against("it", one[:, None].astype(float), np.ones((300, 1))).cells
        found = measure_statistics(draws, statistics_of(sample, cells, sample.weights))["accuracy"].figure
        held += holds(found, RIGHT)
    assert 0.91 <= held / STUDIES <= 0.995, held / STUDIES  # exact ones hold it more often than they say


def holds(figure: Figure, value: float) -> bool:
    assert figure.low is not None and figure.high is not None
    return bool(figure.low <= value <= figure.high)


def test_few_errors_of_a_build_are_held_as_often_as_intervals_say() -> None:
    """The same of all labels of the build, where the heavier stratum has nearly all errors."""
    sample, right = studies(1, True, 32)
    labels = (np.arange(300) >= 150).astype(float)
    strata = (Stratum(0, 7900, 0), Stratum(1, 2100, 2100))
    draws, held = Draws.of(sample), 0
    for one in right:
        truth = np.where(one, labels, 1 - labels)
        held += holds(estimate_whole_build(sample, draws, "agent", labels, truth, strata).error, 1 - RIGHT)
    assert 0.91 <= held / STUDIES <= 0.995, held / STUDIES
