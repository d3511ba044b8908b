from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from retrieval.corpus.overlap import of_benchmark, of_mining
from retrieval.evaluation.content import content_of
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.evaluation.runs.system_run import evaluate_file
from retrieval.metrics.names import parse_measures
from retrieval.metrics.overlap import Overlap
from retrieval.models import Annotator, Benchmark, Label, Mining, Pair, Pool
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
    benchmark = publish_benchmark(Order("small", queries, snippets, "by hand"), Label.objects.all())
    assert of_benchmark(benchmark) == []
    for name, results in (("one", (0, 1)), ("other", (1, 2))):
        path = tmp_path / name
        path.write_text(
            "".join(f"queries-0 Q0 snippets-{one} {rank} 1 x\n" for rank, one in enumerate(results, 1))
        )
        evaluate_file(path, name, content_of(benchmark), Pool.COLLECTION, parse_measures(["mrr"]))
    (found,) = of_benchmark(benchmark)
    assert {found.first, found.second} == {"one (text not known)", "other (text not known)"}
    assert (found.queries, found.shared) == (1, 1.0)
    assert found.jaccard == pytest.approx(1 / 3)


def small(mining: Mining | None = None) -> Benchmark:
    """One match of the first query; the whole collection is searched."""
    queries, snippets = factories.queries(), factories.snippets()
    ids = (queries.members.get(position=0).text_id, snippets.members.get(position=0).text_id)
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    Label.objects.create(pair=Pair.objects.keep_all([ids])[0], annotator=by, value=1)
    order = Order("small", queries, snippets, "by hand", mining, searched=Pool.COLLECTION)
    return publish_benchmark(order, Label.objects.all())


def listed(folder: Path, benchmark: Benchmark, name: str, *names: str, pool: Pool = Pool.COLLECTION) -> None:
    """Score a run that lists snippets of these names for the first query."""
    path = folder / name
    path.write_text("".join(f"queries-0 Q0 {one} {rank} 1 x\n" for rank, one in enumerate(names, 1)))
    evaluate_file(path, name, content_of(benchmark), pool, parse_measures(["mrr"]))


@pytest.mark.django_db
def test_snippets_that_the_benchmark_lacks_are_not_in_common(tmp_path: Path) -> None:
    benchmark = small()
    listed(tmp_path, benchmark, "one", "snippets-0", "elsewhere")
    listed(tmp_path, benchmark, "other", "snippets-0", "nowhere-0")
    (found,) = of_benchmark(benchmark)
    assert (found.queries, found.shared) == (1, 1.0)
    assert found.jaccard == pytest.approx(1 / 3)


@pytest.mark.django_db
def test_what_searched_candidates_is_not_beside_what_searched_all(tmp_path: Path) -> None:
    mining = factories.mining()
    asked, code = (of.members.get(position=0).text for of in (mining.queries, mining.snippets))
    factories.candidate(mining, asked, code, 1)
    benchmark = small(mining)
    listed(tmp_path, benchmark, "one", "snippets-0")
    listed(tmp_path, benchmark, "other", "snippets-0", pool=Pool.CANDIDATES)
    assert of_benchmark(benchmark) == []


@pytest.mark.django_db
def test_one_system_with_two_texts_is_two(tmp_path: Path) -> None:
    queries, snippets = factories.queries(), factories.snippets()
    ids = (queries.members.get(position=0).text_id, snippets.members.get(position=0).text_id)
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    Label.objects.create(pair=Pair.objects.keep_all([ids])[0], annotator=by, value=1)
    benchmark = publish_benchmark(Order("small", queries, snippets, "by hand"), Label.objects.all())
    for text in ("whole", ""):
        path = tmp_path / "one"
        path.write_text("queries-0 Q0 snippets-0 1 1 x\n")
        measured = parse_measures(["mrr"])
        evaluate_file(path, "one", content_of(benchmark), Pool.COLLECTION, measured, text_option=text)
    (found,) = of_benchmark(benchmark)
    assert {found.first, found.second} == {"one", "one (text not known)"}
