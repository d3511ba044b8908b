"""Alpha against published examples and against its definition, pair of values by pair of values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Final

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.stats.agreement.figures import MOST_UNDEFINED, Figure
from annotation.stats.agreement.reliability import (
    Level,
    TooManyValues,
    alpha_unit_terms,
    coincidence_matrix,
    counts_by_pair,
    counts_of,
    gwet_ac1,
    krippendorff_alphas,
    match_prevalence,
    percent_agreement,
    values_of,
)
from annotation.stats.agreement.reliability import alpha_from_sums as alpha_of
from annotation.stats.agreement.sample import Draws
from annotation.stats.agreement.statistic import Statistic, measure_statistics
from tests.ratings import each_its_query, table, value

Ratings = Sequence[str]
BINARY: Final = ("0100000000", "1110010010")
NOMINAL: Final = ("aabbdcccedda", "babbbccceddd")
MISSING: Final = ("*****34121133*3", "1*213343*******", "**21344*21133*4")
"""One observer a line, one unit a column; * is no value."""
EXAMPLE_E: Final = ("123321412***", "1233224125*3", "*3332342251*", "12332441251*")
FOUR: Final = ("1011", "1001")
ZERO_ONE: Final = np.array([0.0, 1.0])


def units(observers: Ratings) -> list[list[int]]:
    """How often each value was given, unit by unit."""
    values = sorted({value for row in observers for value in row} - {"*"})
    return [
        [column.count(value) for value in values] for column in map("".join, zip(*observers, strict=True))
    ]


def figure(rows: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Figure:
    statistic = Statistic(rows, alpha_of)
    return measure_statistics(Draws.even(len(rows)), {"alpha": statistic})["alpha"].figure


def alpha(found: Sequence[Sequence[int]]) -> float:
    return float(alpha_of(np.array([alpha_unit_terms(one) for one in found]).sum(axis=0)))


def by_definition(found: Sequence[Sequence[int]]) -> float | None:
    """1 − observed ÷ expected disagreement, over all ordered pairs of values."""
    lists = [[value for value, count in enumerate(one) for _ in range(count)] for one in found]
    kept = [values for values in lists if len(values) > 1]
    everything = [value for values in kept for value in values]
    size = len(everything)
    observed = sum(sum(a != b for a, b in permutations(values, 2)) / (len(values) - 1) for values in kept)
    expected = sum(a != b for a, b in permutations(everything, 2))
    return 1 - (size - 1) * observed / expected if expected else None


@pytest.mark.parametrize(
    ("observers", "expected"),
    [(BINARY, 0.095), (NOMINAL, 0.692), (MISSING, 0.691)],
    ids=["B", "C", "missing"],
)
def test_published_examples(observers: Ratings, expected: float) -> None:
    """Krippendorff 2011, examples B and C; and 15 units by three observers with missing values."""
    assert alpha(units(observers)) == pytest.approx(expected, abs=5e-4)


@given(st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=2), min_size=1, max_size=12))
def test_it_is_what_its_definition_says(found: list[list[int]]) -> None:
    expected = by_definition(found)
    if expected is None:
        assert np.isnan(alpha(found))
    else:
        assert alpha(found) == pytest.approx(expected)


def test_perfect_agreement_is_one_and_one_value_alone_has_no_alpha() -> None:
    assert alpha([[3, 0], [0, 3]]) == 1.0
    assert np.isnan(alpha([[3, 0], [3, 0]]))


def test_labels_one_after_the_other_are_counted_as_in_a_table() -> None:
    values, scale = table("132*", "1**2"), np.array([1.0, 2, 3])
    rows, columns = np.nonzero(~np.isnan(values))
    counts = counts_by_pair(rows, values[rows, columns], scale, len(values))
    assert counts.tolist() == counts_of(values, scale).tolist()


def test_a_unit_with_one_value_counts_for_nothing() -> None:
    assert alpha_unit_terms((1, 0)) == alpha_unit_terms((0, 0)) == (0.0, 0.0, 0.0)


def test_an_interval_holds_its_value_and_is_the_same_every_time() -> None:
    rows = np.array([alpha_unit_terms(one) for one in [[3, 0], [0, 3], [2, 1], [1, 2], [3, 0]] * 10])
    first, again = (figure(rows) for _ in range(2))
    assert first == again
    assert first.value is not None and first.low is not None and first.high is not None
    assert first.low < first.value < first.high


def test_clusters_widen_the_interval() -> None:
    """The same pairs, each alone or ten of a kind in one query."""
    kinds = [[3, 0]] * 12 + [[0, 3]] * 6 + [[2, 1]] * 6
    alone = np.array([alpha_unit_terms(one) for one in kinds for _ in range(10)])
    together = np.array([np.multiply(10, alpha_unit_terms(one)) for one in kinds])
    narrow, wide = figure(alone), figure(together)
    assert narrow.value == pytest.approx(wide.value)
    assert narrow.low is not None and wide.low is not None and wide.low < narrow.low


def test_where_resamples_often_have_no_alpha_there_is_no_interval() -> None:
    rows = np.array([alpha_unit_terms(one) for one in ([3, 0], [3, 0], [2, 1])])
    found = figure(rows)
    assert found.value is not None and found.low is None and found.undefined > MOST_UNDEFINED


def at(level: Level, observers: Ratings, weights: Sequence[float] | None = None) -> float:
    values = table(*observers)
    counted = np.ones(len(values)) if weights is None else np.array(weights)
    return value(krippendorff_alphas(each_its_query(len(values)), values, counted, (level,))[level])


@pytest.mark.parametrize(
    ("level", "expected"), [(Level.NOMINAL, 0.743), (Level.ORDINAL, 0.815), (Level.INTERVAL, 0.849)]
)
def test_published_example_at_each_level(level: Level, expected: float) -> None:
    """Krippendorff 2011, example E: four observers, twelve units, missing values."""
    assert at(level, EXAMPLE_E) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("level", list(Level))
def test_it_agrees_with_the_krippendorff_package(level: Level) -> None:
    generator = np.random.default_rng(3)
    for _ in range(20):
        values = generator.integers(0, 4, (30, 4)).astype(float)
        values[generator.random(values.shape) < 0.3] = np.nan
        found = value(krippendorff_alphas(each_its_query(30), values, np.ones(30), (level,))[level])
        theirs = krippendorff.alpha(reliability_data=values.T, level_of_measurement=level.value)
        assert found == pytest.approx(theirs)


@given(st.permutations(range(4)))
def test_whoever_is_called_first_changes_nothing(order: list[int]) -> None:
    for level in Level:
        assert at(level, [EXAMPLE_E[one] for one in order]) == pytest.approx(at(level, EXAMPLE_E))


@given(st.lists(st.integers(0, 3), min_size=2, max_size=20), st.integers(2, 5))
def test_whoever_says_the_same_has_alpha_1(labels: list[int], raters: int) -> None:
    text = "".join(map(str, labels))
    for level in Level:
        found = at(level, [text] * raters)
        assert found == pytest.approx(1) if len(set(labels)) > 1 else np.isnan(found)


def test_a_pair_of_weight_2_counts_as_two_pairs() -> None:
    """Weights are scaled to the mean 1, so that the number of values, and with it n − 1, stays."""
    doubled = ["".join(mark * times for mark, times in zip(row, (2, 1, 1, 2), strict=True)) for row in FOUR]
    sums = [
        coincidence_matrix(counts_of(table(*rows), ZERO_ONE), np.array(weights)).sum(axis=0)
        for rows, weights in ((FOUR, [2.0, 1.0, 1.0, 2.0]), (doubled, [1.0] * 6))
    ]
    assert sums[0] == pytest.approx(sums[1])


def test_weighted_alpha_by_hand() -> None:
    """FOUR: pairs 11, 00, 10, 11 with weights 2, 1, 1, 2, scaled by 4/6. Values: ones 2·(4/3)·2 + 2/3 = 6,
    zeros 4/3 + 2/3 = 2, n = 8; disagreement 2/3 on each side. 1 − 7 · (2/3) ÷ (6 · 2) = 0.6111.
    """
    assert at(Level.NOMINAL, FOUR, [2, 1, 1, 2]) == pytest.approx(1 - 7 * (2 / 3) / 12)


def test_percent_agreement_and_prevalence_by_hand() -> None:
    """Three raters: 111 agrees in 3 of 3 twos, 110 in 1 of 3, 1** in none that exist."""
    values = table("111", "11*", "10*")
    sample, even = each_its_query(3), np.ones(3)
    assert value(percent_agreement(sample, values, even)) == pytest.approx((1 + 1 / 3) / 2)
    assert value(match_prevalence(sample, values, even)) == pytest.approx((1 + 2 / 3 + 1) / 3)


def test_gwet_by_hand() -> None:
    """Two raters, ten pairs: eight 11, one 10, one 00. Agreement 0.9, share of ones (8 + 0.5) ÷ 10 = 0.85,
    chance 2 · 0.85 · 0.15 = 0.255 of two values; (0.9 − 0.255) ÷ (1 − 0.255) = 0.8658.
    """
    values = table("1111111110", "1111111100")
    assert value(gwet_ac1(each_its_query(10), values, np.ones(10))) == pytest.approx(0.645 / 0.745)


def test_one_value_alone_has_reasons_in_words_for_everything() -> None:
    values, sample = table("111", "111"), each_its_query(3)
    statistics: dict[str, Statistic] = dict(krippendorff_alphas(sample, values, np.ones(3)).items())
    statistics["gwet"] = gwet_ac1(sample, values, np.ones(3))
    for name, one in measure_statistics(Draws.of(sample), statistics).items():
        assert one.figure.value is None and one.figure.words, name


def test_a_scale_of_hundreds_of_values_is_refused() -> None:
    with pytest.raises(TooManyValues, match="21 different labels"):
        values_of(np.arange(21.0)[:, None])
