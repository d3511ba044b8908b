"""NDCG of graded labels: sums written out, and what holds for every list."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from retrieval.metrics import ndcg
from retrieval.metrics.graded_relevance import FoundMoreThanJudged, exponential, linear, ndcg_graded

LOG3 = math.log2(3)
relevances = st.floats(0, 3)


@pytest.mark.parametrize(
    ("relevance", "exponential_gain", "linear_gain"),
    [(0, 0, 0), (1, 1, 1), (2, 3, 2), (3, 7, 3), (0.5, math.sqrt(2) - 1, 0.5), (-2, 0, 0)],
)
def test_gains(relevance: float, exponential_gain: float, linear_gain: float) -> None:
    assert exponential(relevance) == pytest.approx(exponential_gain)
    assert linear(relevance) == linear_gain


def test_exponential_gain_written_out() -> None:
    """Ranked 0, 3, unjudged, 1; judged 3, 1, 0 and a 2 that was missed."""
    found = (2**3 - 1) / LOG3 + (2**1 - 1) / math.log2(5)
    ideal = (2**3 - 1) / 1 + (2**2 - 1) / LOG3 + (2**1 - 1) / 2
    assert ndcg_graded([0, 3, None, 1], [3, 1, 0, 2]) == pytest.approx(found / ideal)


def test_linear_gain_written_out() -> None:
    found, ideal = 3 / LOG3 + 1 / math.log2(5), 3 / 1 + 2 / LOG3 + 1 / 2
    assert ndcg_graded([0, 3, None, 1], [3, 1, 0, 2], gain=linear) == pytest.approx(found / ideal)


def test_the_cut_off_holds_for_the_ideal_too() -> None:
    assert ndcg_graded([1, 3], [3, 3, 1], k=1) == pytest.approx(1 / 7)


def test_a_query_without_a_gain_is_undefined() -> None:
    assert ndcg_graded([0, None], [0, -1]) is None
    assert ndcg_graded([], []) is None


def test_a_relevance_that_was_not_judged_is_refused() -> None:
    with pytest.raises(FoundMoreThanJudged, match="relevance 3 is ranked 1 times more than it was judged"):
        ndcg_graded([3, 3], [3, 1])


@pytest.mark.parametrize("gain", [exponential, linear])
@given(found=st.lists(st.booleans(), max_size=30), missed=st.integers(0, 5), k=st.integers(1, 40) | st.none())
def test_binary_labels_give_the_binary_ndcg(
    gain: object, found: list[bool], missed: int, k: int | None
) -> None:
    positives = sum(found) + missed
    graded = ndcg_graded(
        [float(hit) for hit in found],
        [1.0] * positives + [0.0] * found.count(False),
        k,
        linear if gain is linear else exponential,
    )
    assert graded == pytest.approx(ndcg(found, positives, k))


@given(found=st.lists(relevances, max_size=20), missed=st.lists(relevances, max_size=5), k=st.integers(1, 25))
def test_it_lies_between_zero_and_one(found: list[float], missed: list[float], k: int) -> None:
    value = ndcg_graded(found, found + missed, k)
    assert value is None or 0 <= value <= 1 + 1e-12


@given(judged=st.lists(relevances, min_size=1, max_size=20), k=st.integers(1, 25))
def test_the_best_order_is_perfect(judged: list[float], k: int) -> None:
    value = ndcg_graded(sorted(judged, reverse=True), judged, k)
    assert value is None or value == pytest.approx(1)


@given(found=st.lists(relevances, min_size=2, max_size=20), data=st.data())
def test_putting_the_more_relevant_first_never_lowers_it(found: list[float], data: st.DataObject) -> None:
    place = data.draw(st.integers(1, len(found) - 1))
    assume(found[place] > found[place - 1])
    better = [*found[: place - 1], found[place], found[place - 1], *found[place + 1 :]]
    before, after = ndcg_graded(found, found), ndcg_graded(better, found)
    assert (before is None and after is None) or (
        before is not None and after is not None and after >= before - 1e-12
    )
