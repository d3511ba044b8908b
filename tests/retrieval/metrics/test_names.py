"""Names such as `ndcg@10` lead to the measures that docs/metrics.md describes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.metrics import codesearchnet, graded_relevance
from retrieval.metrics.names import FAMILIES, UnknownMeasure, parse_measure, parse_measures
from retrieval.metrics.ranking import Distractors, Ranking
from tests.retrieval.metrics.test_binary import METRICS

FOUND = [0.0, 3.0, None, 1.0, *[None] * 20, 2.0]
JUDGED = [0.0, 3.0, 1.0, 2.0, 1.0]
RANKING = Ranking(FOUND, JUDGED)
HITS = [bool(relevance) for relevance in FOUND]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ndcg", graded_relevance.ndcg_graded(FOUND, JUDGED)),
        ("ndcg@10", graded_relevance.ndcg_graded(FOUND, JUDGED, 10)),
        ("ndcg_linear@10", graded_relevance.ndcg_graded(FOUND, JUDGED, 10, graded_relevance.linear)),
        ("ndcg_within", codesearchnet.ndcg_within(FOUND, JUDGED)),
        ("ndcg_all", codesearchnet.ndcg_all(FOUND, JUDGED)),
        ("mrr", 1 / 2),
        ("mrr@1", 0),
        ("map", (1 / 2 + 2 / 4 + 3 / 25) / 4),
        ("map@10", (1 / 2 + 2 / 4) / 4),
        ("map_reachable@2", (1 / 2) / 2),
        ("mmrr", (1 / 2 + 1 / (4 - 1) + 1 / (25 - 2)) / 4),
        ("mmrr@10", (1 / 2 + 1 / (4 - 1)) / 4),
        ("recall", 3 / 4),
        ("recall@10", 2 / 4),
        ("precision@5", 2 / 5),
        ("success@1", 0),
        ("success@2", 1),
    ],
)
def test_scores(name: str, expected: float) -> None:
    assert parse_measure(name).score(RANKING) == pytest.approx(expected)
    assert parse_measure(name).name == name


def test_mmrr_reads_a_thousand_ranks() -> None:
    assert parse_measure("mmrr").score(Ranking([None] * 999 + [1, 1], [1, 1])) == pytest.approx(1 / 1000 / 2)


@pytest.mark.parametrize("name", METRICS)
@given(found=st.lists(st.booleans(), max_size=30), missed=st.integers(0, 5))
def test_names_mean_the_functions_of_binary_labels(name: str, found: list[bool], missed: int) -> None:
    positives = sum(found) + missed
    ranking = Ranking([1.0 if hit else None for hit in found], [1.0] * positives)
    assert parse_measure(name).score(ranking) == pytest.approx(METRICS[name](found, positives))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_query_without_a_match_is_undefined(family: str) -> None:
    cut = ("map_reachable", "precision", "success", "distinct_matches")
    name = family if family not in cut else f"{family}@10"
    drawn = {20_604: Distractors([True, False], 999)}
    assert parse_measure(name).score(Ranking([0.0, None], [0.0, 0.0], "ab", drawn)) is None


@pytest.mark.parametrize(
    "name", ["", "NDCG@10", "ndcg @10", "ndcg@", "ndcg@0", "ndcg@-1", "ndcg@x", "err", "@5"]
)
def test_an_unknown_name_is_told_with_those_that_there_are(name: str) -> None:
    with pytest.raises(UnknownMeasure, match=r"there is no metric .*ndcg\[@k\], .*precision@k"):
        parse_measure(name)


@pytest.mark.parametrize("name", ["precision", "success", "map_reachable", "ndcg_within@10", "ndcg_all@1"])
def test_a_cut_off_stands_where_it_belongs(name: str) -> None:
    with pytest.raises(UnknownMeasure, match=r"metric .*: write "):
        parse_measure(name)


def test_several_names_each_once() -> None:
    assert [each.name for each in parse_measures(["mrr", " map@10 ", "mrr"])] == ["mrr", "map@10"]
    with pytest.raises(UnknownMeasure, match="write ndcg_within, it has a cut-off of its own"):
        parse_measure("ndcg_within@10")
    with pytest.raises(UnknownMeasure, match="no metric is named"):
        parse_measures([])


@given(st.text(max_size=12))
def test_any_text_is_a_measure_or_a_clear_refusal(name: str) -> None:
    try:
        found = parse_measure(name)
    except UnknownMeasure:
        return
    assert found.name == name
