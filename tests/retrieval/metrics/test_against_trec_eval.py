"""Our measures equal those of trec_eval (pytrec_eval) and ir-measures on random runs.

Scores fall with the rank and are all different, so that nobody's order of ties matters. Both know linear gain
only: exponential gain is theirs with 2^relevance - 1 as relevance.
"""

from __future__ import annotations

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from retrieval.metrics.names import parse_measure
from retrieval.metrics.ranking import Ranking

TREC_EVAL = {
    "ndcg_linear": "ndcg",
    "ndcg_linear@10": "ndcg_cut_10",
    "mrr": "recip_rank",
    "map": "map",
    "map@10": "map_cut_10",
    "recall@10": "recall_10",
    "recall@100": "recall_100",
    "precision@5": "P_5",
    "success@1": "success_1",
    "success@5": "success_5",
}
IR_MEASURES = {
    "ndcg_linear@3": "nDCG@3",
    "mrr": "RR",
    "mrr@5": "RR@5",
    "map": "AP",
    "map@5": "AP@5",
    "recall@5": "R@5",
    "precision@3": "P@3",
    "success@5": "Success@5",
}
found_and_missed = st.tuples(
    st.lists(st.integers(0, 3) | st.none(), min_size=1, max_size=40),
    st.lists(st.integers(0, 3), max_size=6),
).filter(lambda both: any(relevance for relevance in (*both[0], *both[1])))


def qrels_and_run(
    found: list[int | None], missed: list[int], *, exponential: bool = False
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    judged = {f"d{rank}": relevance for rank, relevance in enumerate(found) if relevance is not None}
    judged |= {f"missed{number}": relevance for number, relevance in enumerate(missed)}
    gains = {name: 2**relevance - 1 if exponential else relevance for name, relevance in judged.items()}
    return {"q": gains}, {"q": {f"d{rank}": 1.0 / (rank + 1) for rank in range(len(found))}}


def ranking(found: list[int | None], missed: list[int]) -> Ranking:
    return Ranking(found, [relevance for relevance in (*found, *missed) if relevance is not None])


@given(found_and_missed)
def test_pytrec_eval(both: tuple[list[int | None], list[int]]) -> None:
    qrels, run = qrels_and_run(*both)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(TREC_EVAL.values())).evaluate(run)["q"]
    ours = {name: parse_measure(name).score(ranking(*both)) for name in TREC_EVAL}
    assert ours == pytest.approx({name: theirs[trec] for name, trec in TREC_EVAL.items()}, abs=1e-12)


@given(found_and_missed)
def test_pytrec_eval_with_exponential_gain(both: tuple[list[int | None], list[int]]) -> None:
    qrels, run = qrels_and_run(*both, exponential=True)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg", "ndcg_cut_10"}).evaluate(run)["q"]
    assert parse_measure("ndcg").score(ranking(*both)) == pytest.approx(theirs["ndcg"], abs=1e-12)
    assert parse_measure("ndcg@10").score(ranking(*both)) == pytest.approx(theirs["ndcg_cut_10"], abs=1e-12)


@given(found_and_missed)
def test_ir_measures(both: tuple[list[int | None], list[int]]) -> None:
    wanted = {name: ir_measures.parse_measure(theirs) for name, theirs in IR_MEASURES.items()}
    theirs = ir_measures.calc_aggregate(list(wanted.values()), *qrels_and_run(*both))
    ours = {name: parse_measure(name).score(ranking(*both)) for name in wanted}
    assert ours == pytest.approx({name: theirs[each] for name, each in wanted.items()}, abs=1e-12)
