"""Files of judgements and runs are joined as docs/metrics.md says."""

from __future__ import annotations

import math
from pathlib import Path

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.evaluation.files import Evaluation, NotComparable, evaluate_files
from retrieval.metrics.names import parse_measures
from retrieval.sources.readers.lines import Malformed


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


class Files:
    """Two files to write, and what their evaluation finds."""

    def __init__(self, folder: Path) -> None:
        self.qrels, self.run = folder / "qrels", folder / "run"

    def evaluate(self, qrels: str, run: str, names: str, language: str | None = None) -> Evaluation:
        self.qrels.write_text(qrels)
        self.run.write_text(run)
        return evaluate_files(self.qrels, self.run, parse_measures(names.split(",")), language)

    def value(self, qrels: str, run: str, name: str, language: str | None = None) -> float | None:
        return self.evaluate(qrels, run, name, language).averages[name].value


def test_scores_order_a_run_whatever_its_ranks_say(files: Files) -> None:
    run = "q Q0 bad 1 0.1 me\nq Q0 good 2 0.9 me\n"
    assert files.value("q 0 good 1\n", run, "mrr") == 1


def test_ties_go_by_rank_then_by_id(files: Files) -> None:
    by_rank = "q Q0 a 10 1 me\nq Q0 good 9 1 me\n"
    by_id = "q Q0 good 1 1 me\nq Q0 a 1 1 me\nq Q0 z 1 1 me\n"
    assert files.value("q 0 good 1\n", by_rank, "mrr") == 1
    assert files.value("q 0 good 1\n", by_id, "mrr") == 1 / 2


def test_queries_are_counted(files: Files) -> None:
    """q1 is found first, q2 has no results, q3 no match, q4 only a run."""
    qrels = "q1 0 a 1\nq2 0 a 1\nq3 0 a 0\n"
    found = files.evaluate(qrels, "q1 Q0 a 1 1 me\nq3 Q0 a 1 1 me\nq4 Q0 a 1 1 me\n", "mrr,ndcg@10")
    assert (found.scored, found.without_match, found.without_results, found.not_judged) == (2, 1, 1, 1)
    assert {name: mean.value for name, mean in found.averages.items()} == {"mrr": 1 / 2, "ndcg@10": 1 / 2}
    assert {mean.skipped for mean in found.averages.values()} == {1}


def test_lines_of_a_query_need_not_stand_together(files: Files) -> None:
    run = "q1 Q0 x 1 3 me\nq2 Q0 a 1 1 me\nq1 Q0 a 2 2 me\n"
    assert files.value("q1 0 a 1\nq2 0 a 1\n", run, "mrr") == (1 / 2 + 1) / 2


def test_where_no_query_has_a_match_there_is_no_mean(files: Files) -> None:
    assert files.value("q 0 a 0\n", "q Q0 a 1 1 me\n", "map") is None


ANNOTATIONS = "Language,Query,GitHubUrl,Relevance,Notes\n"
PREDICTIONS = "language,query,url\n"


def test_codesearchnet_joins_by_language_and_query_and_averages_experts(files: Files) -> None:
    qrels = ANNOTATIONS + "Go,Sort List,a,3,\nGo,Sort List,a,2,\nGo,Sort List,b,1,\nJava,Sort List,a,1,\n"
    run = PREDICTIONS + "go,sort list,x\ngo,sort list,b\ngo,sort list,a\njava,sort list,a\n"
    gain = 2**2.5 - 1
    go = (1 + gain / math.log2(3)) / (gain + 1 / math.log2(3))
    assert files.value(qrels, run, "ndcg_within") == pytest.approx((go + 1) / 2)
    assert files.value(qrels, run, "ndcg_within", "GO") == pytest.approx(go)


def test_predictions_go_with_trec_qrels_by_query(files: Files) -> None:
    run = PREDICTIONS + "python,Q1,x\npython,Q1,a\n"
    assert files.value("Q1 0 a 1\n", run, "mrr") == 1 / 2


def test_two_languages_beside_a_file_without_any_are_refused(files: Files) -> None:
    run = PREDICTIONS + "python,q,x\ngo,q,a\n"
    with pytest.raises(NotComparable, match=r"in python and in go, .* choose one with --language"):
        files.evaluate("q 0 a 1\n", run, "mrr")
    assert files.value("q 0 a 1\n", run, "mrr", "go") == 1


def test_a_language_that_no_row_has_is_told(files: Files) -> None:
    with pytest.raises(NotComparable, match="qrels has no row in rust"):
        files.evaluate(ANNOTATIONS + "Go,q,a,1,\n", PREDICTIONS + "go,q,a\n", "mrr", "rust")
    with pytest.raises(NotComparable, match="leave --language out"):
        files.evaluate("q 0 a 1\n", "q Q0 a 1 1 me\n", "mrr", "rust")


def test_a_run_of_a_header_alone_is_refused(files: Files) -> None:
    with pytest.raises(NotComparable, match="run has no row"):
        files.evaluate("q 0 a 1\n", PREDICTIONS, "mrr")


def test_a_run_of_other_queries_is_refused(files: Files) -> None:
    with pytest.raises(NotComparable, match=r"No query of .*run is judged: it has 'q01', judged is 'q1'"):
        files.evaluate("q1 0 a 1\n", "q01 Q0 a 1 1 me\n", "mrr")


def test_a_document_that_is_listed_twice_is_refused(files: Files) -> None:
    with pytest.raises(Malformed, match="run, line 3: 'a' is listed a second time for query 'q'"):
        files.evaluate("q 0 a 1\n", "q Q0 a 1 2 me\nq Q0 b 2 2 me\nq Q0 a 3 1 me\n", "mrr")
    with pytest.raises(Malformed, match="qrels, line 2: 'a' is judged a second time for query 'q'"):
        files.evaluate("q 0 a 1\nq 0 a 0\n", "q Q0 a 1 2 me\n", "mrr")


labels = st.dictionaries(st.integers(0, 30), st.integers(0, 3), min_size=1, max_size=20)
ranked = st.lists(st.integers(0, 30), unique=True, max_size=30)


@given(st.lists(st.tuples(labels, ranked), min_size=1, max_size=5))
def test_means_are_those_of_ir_measures(
    tmp_path_factory: pytest.TempPathFactory, queries: list[tuple[dict[int, int], list[int]]]
) -> None:
    """ir-measures counts queries without a match as 0 and knows no run without results: both are left out."""
    kept = [(judged, found) for judged, found in queries if any(judged.values()) and found]
    if not kept:
        return
    qrels = "".join(f"q{q} 0 d{d} {r}\n" for q, (judged, _) in enumerate(kept) for d, r in judged.items())
    run = "".join(
        f"q{q} Q0 d{d} {rank} {1 / rank} me\n"
        for q, (_, found) in enumerate(kept)
        for rank, d in enumerate(found, 1)
    )
    names = {"ndcg_linear@10": "nDCG@10", "mrr@10": "RR@10", "map": "AP", "recall@5": "R@5"}
    ours = Files(tmp_path_factory.getbasetemp()).evaluate(qrels, run, ",".join(names)).averages
    wanted = {name: ir_measures.parse_measure(theirs) for name, theirs in names.items()}
    both = ir_measures.read_trec_qrels(qrels), ir_measures.read_trec_run(run)  # type: ignore[no-untyped-call]
    theirs = ir_measures.calc_aggregate(list(wanted.values()), *map(list, both))
    for name, each in wanted.items():
        assert ours[name].value == pytest.approx(theirs[each], abs=1e-12)
