"""Measures query by query, with what unjudged results do to them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.evaluation.query_scores import compute_mean_figures, cut_of, score_rankings
from retrieval.metrics.names import parse_measures
from retrieval.metrics.ranking import Ranking

LISTS = [
    Ranking([None, 0, 1, None], [1, 0]),  # the match is third, second without the unjudged one before it
    Ranking([1], [1, 1]),
    Ranking([], [1]),
    Ranking([None, 0], [0]),  # no match: says nothing
]
relevances = st.lists(st.sampled_from([None, 0.0, 1.0, 2.0]), max_size=8)


def test_values_condensed_and_judged_by_query() -> None:
    (mrr,) = score_rankings(parse_measures(["mrr"]), LISTS)
    assert mrr.values.tolist()[:3] == [1 / 3, 1, 0]
    assert mrr.condensed.tolist()[:3] == [1 / 2, 1, 0]
    assert mrr.judged.tolist()[:2] == [2 / 4, 1]
    assert np.isnan(mrr.values[3])
    assert np.isnan(mrr.judged[2:]).all()


def test_means_leave_out_queries_without_a_match() -> None:
    (mrr,) = compute_mean_figures(score_rankings(parse_measures(["mrr"]), LISTS), condensed=True)
    assert mrr.value == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert mrr.condensed == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert mrr.judged == pytest.approx((2 / 4 + 1) / 2)
    assert mrr.interval and mrr.value
    assert 0 <= mrr.interval.low <= mrr.value <= mrr.interval.high <= 1


def test_without_judged_non_matches_nothing_is_condensed() -> None:
    assert (
        compute_mean_figures(score_rankings(parse_measures(["mrr"]), LISTS), condensed=False)[0].condensed
        is None
    )


def test_some_queries_alone() -> None:
    (mrr,) = compute_mean_figures(
        score_rankings(parse_measures(["mrr"]), LISTS),
        condensed=True,
        chosen=np.array([False, True, False, True]),
    )
    assert (mrr.value, mrr.interval) == (1, None)


def test_nothing_to_measure_is_undefined_and_not_nan() -> None:
    for lists in ([], LISTS[3:]):
        (mrr,) = compute_mean_figures(score_rankings(parse_measures(["mrr"]), lists), condensed=True)
        assert (mrr.value, mrr.condensed, mrr.judged, mrr.interval) == (None, None, None, None)
    assert compute_mean_figures([], condensed=True) == []


def test_a_cut_off_is_read_from_the_name() -> None:
    assert [cut_of(name) for name in ("ndcg@3", "mrr")] == [3, 10]
    (precision,) = score_rankings(parse_measures(["precision@1"]), LISTS)
    assert precision.judged.tolist()[:2] == [0, 1]


@given(relevances, relevances)
def test_a_condensed_list_is_never_worse(found: list[float | None], missed: list[float | None]) -> None:
    judged = [relevance for relevance in [*found, *missed] if relevance is not None]
    for one in score_rankings(parse_measures(["mrr", "ndcg@3", "map", "recall@2"]), [Ranking(found, judged)]):
        if any(relevance > 0 for relevance in judged):
            assert one.condensed[0] >= one.values[0] - 1e-12
        else:
            assert math.isnan(one.values[0])
