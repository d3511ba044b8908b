"""CodeSearchNet's figures by hand, and on the experts' real ratings."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.metrics.codesearchnet import Coverage, mean_relevances, ndcg_all, ndcg_within
from retrieval.metrics.graded_relevance import ndcg_graded
from retrieval.metrics.ranking import Ranking

LOG3 = math.log2(3)


def test_several_ratings_of_a_snippet_are_their_mean() -> None:
    ratings = [("q", "a", 3), ("q", "a", 2), ("q", "b", 0), ("r", "a", 1)]
    assert mean_relevances(ratings) == {"q": {"a": 2.5, "b": 0}, "r": {"a": 1}}


def test_within_closes_the_ranks_and_all_does_not() -> None:
    """Results: unrated, 2.5, unrated, 1; a 3 was missed."""
    found, judged = [None, 2.5, None, 1], [3, 2.5, 1]
    ideal = (2**3 - 1) + (2**2.5 - 1) / LOG3 + (2**1 - 1) / 2
    assert ndcg_within(found, judged) == pytest.approx(((2**2.5 - 1) / 1 + 1 / LOG3) / ideal)
    assert ndcg_all(found, judged) == pytest.approx(((2**2.5 - 1) / LOG3 + 1 / math.log2(5)) / ideal)


def test_the_first_300_results_are_read() -> None:
    assert ndcg_all([None] * 299 + [1], [1]) == pytest.approx(1 / math.log2(301))
    assert ndcg_all([None] * 300 + [1], [1]) == ndcg_within([None] * 300 + [1], [1]) == 0
    assert _coverage(Ranking([None] * 300 + [1], [1])).share == 0


def test_a_query_without_a_relevant_snippet_is_undefined() -> None:
    assert ndcg_within([0, 0], [0, 0]) is None
    assert ndcg_all([], [0]) is None


def test_coverage_is_one_share_of_all_annotations() -> None:
    """3 of 5 annotated snippets are results, 1 of the 2 relevant ones."""
    counted = _coverage(Ranking([2, None, 0], [2, 1, 0, 0]), Ranking([0], [0]))
    assert (counted.share, counted.share_of_relevant) == (3 / 5, 1 / 2)
    assert _coverage().share is None
    assert _coverage(Ranking([0], [0])).share_of_relevant is None


def _coverage(*rankings: Ranking) -> Coverage:
    counted = Coverage()
    for ranking in rankings:
        counted.add(ranking)
    return counted


@given(found=st.lists(st.floats(0, 3) | st.none(), max_size=30), missed=st.lists(st.floats(0, 3), max_size=5))
def test_unrated_results_cost_ranks_only_in_all(found: list[float | None], missed: list[float]) -> None:
    rated = [relevance for relevance in found if relevance is not None]
    within, everywhere = ndcg_within(found, rated + missed), ndcg_all(found, rated + missed)
    assert within == ndcg_graded(rated, rated + missed)
    assert everywhere == ndcg_graded(found, rated + missed)
    assert (within is None) == (everywhere is None)
    assert within is None or everywhere is None or within >= everywhere - 1e-12


@pytest.mark.real_data
def test_the_real_ratings_in_file_order(real_data: Path) -> None:
    """The annotated functions in their order in the file, as its own evaluator counts them."""
    with (real_data / "codesearchnet" / "annotationStore-part.csv").open(
        newline="", encoding="utf-8"
    ) as file:
        rows = list(csv.DictReader(file))
    ratings = mean_relevances(
        ((row["Language"], row["Query"]), row["GitHubUrl"], float(row["Relevance"])) for row in rows
    )
    assert any(relevance % 1 for items in ratings.values() for relevance in items.values())
    for items in ratings.values():
        listed = list(items.values())
        assert ndcg_within(listed, listed) == ndcg_all(listed, listed) == reference_ndcg(listed)
    listed_alone = (Ranking([*items.values()], [*items.values()]) for items in ratings.values())
    assert _coverage(*listed_alone).share == 1


def reference_ndcg(listed: list[float]) -> object:
    def gained(relevances: list[float]) -> float:
        return sum((2**r - 1) / math.log2(rank + 1) for rank, r in enumerate(relevances, 1))

    ideal = gained(sorted(listed, reverse=True))
    return pytest.approx(gained(listed) / ideal) if ideal else None
