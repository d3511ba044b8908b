"""Every measure with its sum written out, on empty, partial, perfect and late answers."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval import metrics
from retrieval.metrics import MoreHitsThanPositives, distinct_matches

Metric = Callable[[Sequence[bool], int], float | None]
METRICS: Mapping[str, Metric] = {
    "mrr": metrics.reciprocal_rank,
    "mrr@10": partial(metrics.reciprocal_rank, k=10),
    "mmrr": metrics.multi_choice_reciprocal_rank,
    "map": metrics.average_precision,
    "map@10": partial(metrics.average_precision, k=10),
    "map_reachable@10": partial(metrics.average_precision_of_reachable, k=10),
    "ndcg": metrics.ndcg,
    "ndcg@10": partial(metrics.ndcg, k=10),
    "recall": metrics.recall,
    **{f"recall@{k}": partial(metrics.recall, k=k) for k in (1, 3, 5, 10, 20, 100)},
    **{f"precision@{k}": partial(metrics.precision, k=k) for k in (1, 3, 5, 10)},
    **{f"success@{k}": partial(metrics.success, k=k) for k in (1, 3, 5, 10)},
}
"""Measures of binary labels by the names that `names.measure` reads."""


def hits(pattern: str) -> list[bool]:
    """Read "010" as: only the second snippet is a match."""
    return [letter == "1" for letter in pattern]


@pytest.mark.parametrize(
    ("name", "pattern", "positives", "expected"),
    [
        ("mrr", "1", 1, 1),
        ("mrr", "0101", 2, 1 / 2),
        ("mrr", "0" * 49 + "1", 1, 1 / 50),
        ("mrr", "000", 1, 0),
        ("mrr", "", 1, 0),
        ("mrr@10", "0" * 9 + "1", 1, 1 / 10),
        ("mrr@10", "0" * 10 + "1", 1, 0),
        ("recall", "0" * 200 + "1", 2, 1 / 2),
        ("recall@1", "11", 2, 1 / 2),
        ("recall@100", "0" * 99 + "11", 2, 1 / 2),
        ("precision@1", "01", 1, 0 / 1),
        ("precision@3", "101", 2, 2 / 3),
        ("precision@5", "11", 2, 2 / 5),
        ("success@1", "01", 1, 0),
        ("success@3", "011", 4, 1),
        ("success@10", "0" * 10 + "1", 1, 0),
        ("recall@5", "010011", 4, 2 / 4),
        ("recall@10", "1" * 12, 12, 10 / 12),
        ("recall@20", "0" * 20 + "1", 1, 0),
        ("map", "101", 2, (1 / 1 + 2 / 3) / 2),
        ("map", "101", 3, (1 / 1 + 2 / 3 + 0) / 3),
        ("map@10", "0" * 9 + "11", 2, (1 / 10 + 0) / 2),
        ("map@10", "1" * 12, 12, 10 / 12),
        ("map_reachable@10", "1" * 12, 12, 10 / 10),
        ("map_reachable@10", "01", 3, (1 / 2) / 3),
        ("ndcg@10", "01", 1, (1 / math.log2(3)) / 1),
        ("ndcg@10", "101", 2, (1 + 1 / 2) / (1 + 1 / math.log2(3))),
        ("ndcg@10", "0" * 10 + "1", 1, 0),
        ("ndcg@10", "1" * 12, 12, 1),
        ("ndcg", "0" * 10 + "1", 1, 1 / math.log2(12)),
        ("ndcg", "1", 3, 1 / (1 + 1 / math.log2(3) + 1 / 2)),
        ("mmrr", "101", 2, (1 / 1 + 1 / (3 - 1)) / 2),
        ("mmrr", "011", 2, (1 / 2 + 1 / (3 - 1)) / 2),
        ("mmrr", "101", 4, (1 / 1 + 1 / 2 + 0 + 0) / 4),
        ("mmrr", "0" * 999 + "11", 2, (1 / 1000 + 0) / 2),
    ],
)
def test_sums(name: str, pattern: str, positives: int, expected: float) -> None:
    assert METRICS[name](hits(pattern), positives) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("name", METRICS)
def test_a_query_without_positives_is_undefined(name: str) -> None:
    assert METRICS[name](hits("000"), 0) is None


@pytest.mark.parametrize("name", METRICS)
def test_more_matches_than_positives_is_refused(name: str) -> None:
    with pytest.raises(MoreHitsThanPositives, match="2 matches are ranked but the query has 1"):
        METRICS[name](hits("101"), 1)


@pytest.mark.parametrize("name", METRICS)
@given(found=st.lists(st.booleans(), max_size=30), missed=st.integers(0, 5))
def test_measures_lie_between_zero_and_one(name: str, found: list[bool], missed: int) -> None:
    value = METRICS[name](found, sum(found) + missed)
    assert value is None or 0 <= value <= 1 + 1e-12
    assert (value is None) == (sum(found) + missed == 0)


@pytest.mark.parametrize("name", METRICS)
@given(found=st.lists(st.booleans(), min_size=2, max_size=30), data=st.data())
def test_moving_a_match_up_never_lowers_a_measure(name: str, found: list[bool], data: st.DataObject) -> None:
    place = data.draw(st.integers(1, len(found) - 1))
    better = found.copy()
    if found[place] and not found[place - 1]:
        better[place - 1], better[place] = True, False
    before, after = METRICS[name](found, sum(found)), METRICS[name](better, sum(found))
    assert before is None or (after is not None and after >= before - 1e-12)


CUT_SHORT = ("map@10", "recall@1", "recall@3", "recall@5")
"""Fewer ranks than a query may have matches: even the best list has less than 1."""


@pytest.mark.parametrize(
    "name", [name for name in METRICS if name not in CUT_SHORT and not name.startswith("precision")]
)
@given(positives=st.integers(1, 10), others=st.integers(0, 10))
def test_matches_first_is_perfect(name: str, positives: int, others: int) -> None:
    perfect = METRICS[name]([True] * positives + [False] * others, positives)
    assert perfect == pytest.approx(1)


@given(found=st.lists(st.booleans(), min_size=1, max_size=30), k=st.integers(1, 10))
def test_precision_recall_and_success_count_the_same_hits(found: list[bool], k: int) -> None:
    """precision × k = recall × positives = number of hits; success says whether there is one."""
    positives = max(1, sum(found))
    precision = metrics.precision(found, positives, k)
    recall = metrics.recall(found, positives, k)
    assert precision is not None
    assert recall is not None
    assert precision * k == pytest.approx(recall * positives) == pytest.approx(sum(found[:k]))
    assert metrics.success(found, positives, k) == (recall > 0)


@pytest.mark.parametrize(
    ("pattern", "groups", "k", "expected"),
    [
        ("111", "aab", 3, 2),  # two copies and another answer
        ("111", "aab", 2, 1),
        ("0110", "abba", None, 1),
        ("000", "abc", 3, 0),
        ("1", "a", 10, 1),
    ],
)
def test_copies_of_one_answer_count_once(pattern: str, groups: str, k: int | None, expected: int) -> None:
    assert distinct_matches(hits(pattern), groups, 5, k) == expected


def test_distinct_matches_of_a_query_without_positives_are_undefined() -> None:
    assert distinct_matches([False], "a", 0, 1) is None


def test_each_rank_has_a_group() -> None:
    with pytest.raises(ValueError, match="shorter"):
        distinct_matches([True, False], "a", 1, 1)


@given(found=st.lists(st.tuples(st.booleans(), st.integers(0, 3)), max_size=20), k=st.integers(1, 20))
def test_distinct_matches_are_never_more_than_matches(found: list[tuple[bool, int]], k: int) -> None:
    matches, groups = [hit for hit, _ in found], [group for _, group in found]
    distinct = distinct_matches(matches, groups, len(found) + 1, k)
    assert distinct is not None
    assert min(1, sum(matches[:k])) <= distinct <= sum(matches[:k])
    assert distinct_matches(matches, range(len(found)), len(found) + 1, k) == sum(matches[:k])
