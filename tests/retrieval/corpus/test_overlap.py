from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.corpus.overlap import of_benchmark, of_mining, overlap
from retrieval.evaluation.content import content_of
from retrieval.evaluation.publishing import Order, publish
from retrieval.evaluation.running import evaluate_file
from retrieval.metrics.names import measures
from retrieval.models import Annotator, Candidate, Label, Mining, Pair, Pool
from tests import factories


def test_shared_and_jaccard_are_means_over_queries() -> None:
    found = overlap("a", "b", 2, [({1, 2}, {2, 3}), ({1}, {1}), (set(), set())])
    assert found is not None
    assert (found.queries, found.shared) == (2, 1.0)
    assert found.jaccard == pytest.approx((1 / 3 + 1) / 2)
    assert overlap("a", "b", 2, [(set(), set())]) is None


@pytest.mark.django_db
def test_the_better_half_by_each_encoder() -> None:
    queries, snippets = factories.queries(), factories.snippets()
    mining = Mining.objects.create(queries=queries, snippets=snippets, encoders=["a", "b"], k=4)
    query = queries.members.get(position=0).text_id
    for rank, (one, other) in enumerate(((0.9, 0.1), (0.8, 0.9), (0.1, 0.8), (0.2, 0.2)), 1):
        snippet = snippets.members.get(position=rank - 1).text_id
        Candidate.objects.create(
            mining=mining,
            pair=Pair.objects.keep_all([(query, snippet)])[0],
            query_id=query,
            rank=rank,
            score=0.5,
            scores={"a": {"raw": one}, "b": {"raw": other}},
        )
    (found,) = of_mining(mining)  # a: snippets 1 and 2, b: 2 and 3
    assert (found.first, found.second, found.queries, found.depth) == ("a", "b", 1, 2)
    assert found.shared == 1.0
    assert found.jaccard == pytest.approx(1 / 3)
    mining.encoders = ["a"]
    assert of_mining(mining) == []


@pytest.mark.django_db
def test_results_of_two_runs(tmp_path: Path) -> None:
    queries, snippets = factories.queries(), factories.snippets()
    ids = (queries.members.get(position=0).text_id, snippets.members.get(position=0).text_id)
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    Label.objects.create(pair=Pair.objects.keep_all([ids])[0], annotator=by, value=1)
    benchmark = publish(Order("small", queries, snippets, "by hand"), Label.objects.all())
    assert of_benchmark(benchmark) == []
    for name, results in (("one", (0, 1)), ("other", (1, 2))):
        path = tmp_path / name
        path.write_text(
            "".join(f"queries-0 Q0 snippets-{one} {rank} 1 x\n" for rank, one in enumerate(results, 1))
        )
        evaluate_file(path, name, content_of(benchmark), Pool.COLLECTION, measures(["mrr"]))
    (found,) = of_benchmark(benchmark)
    assert {found.first, found.second} == {"one", "other"}
    assert (found.queries, found.shared) == (1, 1.0)
    assert found.jaccard == pytest.approx(1 / 3)
