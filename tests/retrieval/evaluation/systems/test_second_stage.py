"""A reranker orders the first results of each list, and what lies below keeps its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.encoders import Doubles, MissingWeights
from retrieval.encoders.rerankers import UnknownReranker
from retrieval.evaluation.content import Content, content_of
from retrieval.evaluation.leaderboard import build_leaderboard
from retrieval.evaluation.runs.stored_search import NotStored, searched_again
from retrieval.evaluation.runs.system_run import evaluate_system
from retrieval.evaluation.systems.names import (
    join_second_stage,
    list_models_of,
    split_second_stage,
)
from retrieval.evaluation.systems.published_systems import shared_with, trained_on
from retrieval.evaluation.systems.search import Search, System, find_system, rank_snippets
from retrieval.evaluation.systems.second_stage import order_by_score, search_in_stages, second_stage_of
from retrieval.metrics.names import parse_measures
from retrieval.models import Benchmark, Pool, Run


@dataclass
class Shorter:
    """Prefers shorter snippets; of those with a word in `equal` all are alike."""

    equal: str = ""
    asked: list[tuple[str, int]] = field(default_factory=list)
    name: str = "shorter:by-hand"
    identity: str = "shorter"
    revision: str = ""

    def score_snippets(self, query: str, snippets: Sequence[str]) -> Doubles:
        self.asked.append((query, len(snippets)))
        return np.array(
            [0.0 if self.equal and self.equal in code else -float(len(code)) for code in snippets]
        )


def system(reranker: Shorter, depth: int) -> System:
    return System(f"bm25 >{depth}> {reranker.name}", find_system("bm25").encoders, reranker, depth)


@pytest.fixture
def content(benchmark_: Benchmark) -> Content:
    return content_of(benchmark_)


def whole(folder: Path) -> Search:
    """The pool of all, in which BM25 finds two snippets a query."""
    return Search("whole", None, folder)


def test_the_first_results_are_ordered_by_score_and_the_others_stay(
    content: Content, tmp_path: Path, benchmark_: Benchmark
) -> None:
    pool = {query: [0, 1, 2, 3] for query in content.queries}
    how = Search("whole", pool, tmp_path)
    codes = [member.text.text for member in benchmark_.snippets.members.order_by("position")]
    first = dict(rank_snippets(find_system("bm25+bow"), content, how))
    for depth in (1, 2, 3, 1000):
        reranker = Shorter()
        found = search_in_stages(System("x", find_system("bm25+bow").encoders, reranker, depth), content, how)
        for query, places in found.lists.items():
            before = first[query].tolist()
            top = sorted(before[:depth], key=lambda place: len(codes[place]))
            assert places.tolist() == [*top, *before[depth:]]
        sizes = [min(depth, len(places)) for places in first.values()]
        assert [size for _, size in reranker.asked] == sizes
        assert found.second_stage["pairs"] == sum(sizes)


def test_of_equal_scores_the_later_document_id_comes_first() -> None:
    """trec_eval's rule: by score, then by document id, falling; ids are texts, so 9 comes before 10."""
    ids = ["9", "10", "b", "a"]
    places = np.array([0, 1, 2, 3], dtype=np.uint32)
    assert order_by_score(places, np.zeros(4), ids).tolist() == [2, 3, 0, 1]
    assert order_by_score(places, np.array([0, 5, 0, 0]), ids).tolist() == [1, 2, 3, 0]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.randoms())
def test_the_order_of_the_first_stage_decides_no_tie(scores: list[int], random: object) -> None:
    ids = [f"d{number}" for number in range(len(scores))]
    places = list(range(len(scores)))
    expected = order_by_score(np.array(places, dtype=np.uint32), np.array(scores, dtype=float), ids)
    random.shuffle(places)  # type: ignore[attr-defined]
    again = order_by_score(
        np.array(places, dtype=np.uint32), np.array([scores[place] for place in places], dtype=float), ids
    )
    assert again.tolist() == expected.tolist()


def test_a_run_keeps_its_first_stage_depth_seconds_and_cost(content: Content, tmp_path: Path) -> None:
    how = whole(tmp_path)
    done = evaluate_system(system(Shorter(), 2), content, Pool.COLLECTION, how, parse_measures(["mrr"]))
    note = second_stage_of(Run.objects.get())
    assert (note["first_stage"], note["reranker"], note["depth"]) == ("bm25", "shorter:by-hand", 2)
    assert (note["pairs"], note["usd"]) == (6, 0) and note["seconds"] >= 0 <= note["first_seconds"]
    evaluate_system(find_system("bm25"), content, Pool.COLLECTION, how, parse_measures(["mrr"]))
    board = build_leaderboard(content.benchmark, Pool.COLLECTION)
    assert {row.run.system for row in board.standings} == {"bm25", "bm25 >2> shorter:by-hand"}
    with pytest.raises(NotStored, match="reranker has no stored scores"):
        searched_again(done.run, content, tmp_path)


def test_two_depths_are_two_systems(content: Content, tmp_path: Path) -> None:
    for depth in (1, 2):
        evaluate_system(
            system(Shorter(), depth), content, Pool.COLLECTION, whole(tmp_path), parse_measures(["mrr"])
        )
    assert len(build_leaderboard(content.benchmark, Pool.COLLECTION).standings) == 2


def test_a_missing_model_is_told_before_anything_is_searched(content: Content, tmp_path: Path) -> None:
    with pytest.raises(MissingWeights, match="/no/such"):
        search_in_stages(find_system("bm25 >5> cross-encoder:/no/such"), content, whole(tmp_path))


@pytest.mark.django_db
def test_a_name_says_first_stage_depth_and_reranker() -> None:
    name = join_second_stage("bm25+bow", 100, "cross-encoder:/models/a >b+c")
    assert name == "bm25+bow >100> cross-encoder:/models/a >b+c"
    assert split_second_stage(name) == ("bm25+bow", 100, "cross-encoder:/models/a >b+c")
    assert list_models_of(name) == ["bm25", "bow", "cross-encoder:/models/a >b+c"]
    found = find_system(name)
    assert [encoder.name for encoder in found.encoders] == ["bm25", "bow"]
    assert (found.rerank_depth, found.reranker and found.reranker.name) == (
        100,
        "cross-encoder:/models/a >b+c",
    )
    assert split_second_stage("bm25") == ("bm25", 0, "") and find_system("bm25").reranker is None
    with pytest.raises(UnknownReranker):
        find_system("bm25 >100> bm25")


def test_what_a_reranker_was_trained_on_is_not_known() -> None:
    name = "bm25 >100> cross-encoder:/models/mine"
    assert trained_on("bm25") == "nothing: it counts words"
    assert trained_on(name) == "nothing: it counts words; not known"
    assert shared_with(name, ["claude-x"]) == "", "not known, which is not nothing"
