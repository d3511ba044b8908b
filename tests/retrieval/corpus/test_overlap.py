from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from retrieval.corpus.overlap import of_benchmark, of_mining
from retrieval.evaluation.content import content_of
from retrieval.evaluation.publishing import Order, publish
from retrieval.evaluation.running import evaluate_file
from retrieval.metrics.names import measures
from retrieval.metrics.overlap import Overlap
from retrieval.models import Annotator, Label, Pair, Pool
from tests import factories


@pytest.mark.django_db
def test_what_a_mining_measured() -> None:
    mining = factories.mining(factories.queries(), factories.snippets())
    assert of_mining(mining) == []
    one = Overlap("a", "b", queries=1, depth=2, shared=1.0, jaccard=1 / 3)
    mining.overlaps = [asdict(one)]
    assert of_mining(mining) == [one]


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
    assert {found.first, found.second} == {"one (text not known)", "other (text not known)"}
    assert (found.queries, found.shared) == (1, 1.0)
    assert found.jaccard == pytest.approx(1 / 3)


@pytest.mark.django_db
def test_one_system_with_two_texts_is_two(tmp_path: Path) -> None:
    queries, snippets = factories.queries(), factories.snippets()
    ids = (queries.members.get(position=0).text_id, snippets.members.get(position=0).text_id)
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    Label.objects.create(pair=Pair.objects.keep_all([ids])[0], annotator=by, value=1)
    benchmark = publish(Order("small", queries, snippets, "by hand"), Label.objects.all())
    for text in ("whole", ""):
        path = tmp_path / "one"
        path.write_text("queries-0 Q0 snippets-0 1 1 x\n")
        measured = measures(["mrr"])
        evaluate_file(path, "one", content_of(benchmark), Pool.COLLECTION, measured, text_option=text)
    (found,) = of_benchmark(benchmark)
    assert {found.first, found.second} == {"one", "one (text not known)"}
