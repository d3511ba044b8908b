"""A run is stored once, with its lists and each query's scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from retrieval.encoders.dense.transformer import TransformerEncoder
from retrieval.evaluation.content import Content, content_of
from retrieval.evaluation.runs.system_run import (
    Evaluated,
    NameTooLong,
    digest_of,
    evaluate_file,
    evaluate_system,
)
from retrieval.evaluation.systems.search import Search, find_system
from retrieval.index.vectors import VectorStore
from retrieval.metrics.names import parse_measures
from retrieval.models import Benchmark, Pool, Run, Score
from retrieval.models.benchmarks import NOWHERE
from tests import factories
from tests.retrieval.encoders.conftest import tiny_models  # noqa: F401  (a fixture)

RUN = "queries-0 Q0 snippets-1 1 3 me\nqueries-0 Q0 elsewhere 2 2 me\nqueries-0 Q0 snippets-0 3 1 me\n"


@pytest.fixture
def content(benchmark_: Benchmark) -> Content:
    return content_of(benchmark_)


def of_file(content: Content, folder: Path, text: str = RUN, names: str = "mrr,recall@10") -> Evaluated:
    path = folder / "mine.run"
    path.write_text(text)
    return evaluate_file(path, "mine", content, Pool.COLLECTION, parse_measures(names.split(",")))


def of_system(content: Content, folder: Path, name: str = "bm25") -> Evaluated:
    how = Search("whole", None, folder)
    return evaluate_system(find_system(name), content, Pool.COLLECTION, how, parse_measures(["mrr"]))


def test_a_system_takes_the_precision_in_which_the_snippets_are_stored(
    content: Content,
    tmp_path: Path,
    tiny_models: dict[str, Path],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("retrieval.index.stored_precision.multiplies_bf16", lambda: True)
    encoder = TransformerEncoder("minilm", str(tiny_models["minilm"]), wanted="bf16")
    texts = [code.strip() for code in factories.SNIPPETS]
    VectorStore(tmp_path, "whole").rows(encoder, texts, "snippet")
    found = of_system(content, tmp_path, f"bm25+{encoder.name}")
    assert found.run.options["identities"][1] == encoder.identity


def test_figures_and_counts_of_a_file(content: Content, tmp_path: Path) -> None:
    """Query 0 has its first match at rank 3, at 2 without the unknown one; 1 has no results, 2 no match."""
    found = of_file(content, tmp_path)
    assert found.figures["mrr"].value == pytest.approx((1 / 3 + 0) / 2)
    assert found.figures["mrr"].condensed == pytest.approx((1 / 2 + 0) / 2)
    assert found.figures["mrr"].judged == pytest.approx(2 / 3)
    assert found.figures["recall@10"].value == pytest.approx((1 / 2 + 0) / 2)
    counts = found.counts
    assert (counts.scored, counts.without_match, counts.without_results, counts.not_judged) == (2, 1, 1, 0)


def test_each_query_is_counted_as_it_is_scored_and_the_name_may_be_another(
    content: Content, tmp_path: Path
) -> None:
    seen: list[int] = []
    path = tmp_path / "0f"
    path.write_text(RUN)
    wanted = parse_measures(["mrr"])
    found = evaluate_file(
        path, "mine", content, Pool.COLLECTION, wanted, source="the best\x00.run", tick=seen.append
    )
    assert seen == [1, 1, 1]
    assert found.run.source == "the best\u2400.run"
    assert found.asked == {}


def test_what_is_unknown_is_told(content: Content, tmp_path: Path) -> None:
    found = of_file(content, tmp_path, RUN + "queries-9 Q0 snippets-0 1 1 me\n")
    assert found.counts.not_judged == 1
    assert ["left out" in note for note in found.notes] == [True, False]
    assert "kept in their ranks as unjudged" in found.notes[1]


def test_lists_and_scores_are_kept(content: Content, tmp_path: Path) -> None:
    run = of_file(content, tmp_path).run
    assert [row.places.tolist() for row in run.lists.all()] == [[1, NOWHERE, 0]]
    values = np.frombuffer(bytes(Score.objects.get(run=run, metric="mrr").values), "<f8")
    assert values[:2].tolist() == [1 / 3, 0]
    assert np.isnan(values[2])
    assert (run.source, run.pool, run.text_option) == ("mine.run", "collection", "")


def test_the_same_lists_are_one_run(content: Content, tmp_path: Path) -> None:
    first = of_file(content, tmp_path, names="mrr").run
    assert of_file(content, tmp_path, names="mrr,map").run == first
    assert sorted(first.scores.values_list("metric", flat=True)) == ["map", "mrr"]
    of_file(content, tmp_path, RUN.replace("snippets-0", "snippets-2"))
    assert Run.objects.count() == 2


def test_a_systems_run_says_how_it_was_made(content: Content, tmp_path: Path) -> None:
    run = of_system(content, tmp_path, "bm25+bow").run
    assert (run.encoders, run.text_option) == (["bm25", "bow"], "whole")
    assert run.options["identities"][1] == "bow"
    assert run.code_version.startswith("retrieval ")
    assert run.lists.count() == 3


def test_a_name_that_would_be_cut_is_refused_and_nothing_is_kept(content: Content, tmp_path: Path) -> None:
    """Two systems whose names differ behind the cut would stand for each other."""
    path, wanted = tmp_path / "mine.run", parse_measures(["mrr"])
    path.write_text(RUN)
    for end in "ab":
        with pytest.raises(NameTooLong, match=r"at most 120 letters.*has 121.*--run NAME=FILE"):
            evaluate_file(path, "x" * 120 + end, content, Pool.COLLECTION, wanted)
    named, how = (
        replace(find_system("bm25"), name="bm25+codebert:/" + "x" * 120),
        Search("whole", None, tmp_path),
    )
    with pytest.raises(NameTooLong, match="--encoder-file"):
        evaluate_system(named, content, Pool.COLLECTION, how, wanted)
    assert not Run.objects.exists()
    assert evaluate_file(path, "x" * 120, content, Pool.COLLECTION, wanted).run.system == "x" * 120


def test_the_hash_of_lists_tells_an_empty_one_from_none(content: Content) -> None:
    empty = {content.queries[0]: np.zeros(0, dtype=np.uint32)}
    assert digest_of(empty, content.queries) != digest_of({}, content.queries)
