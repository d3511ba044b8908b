"""A benchmark is found by name and read as it was published."""

from __future__ import annotations

from dataclasses import replace

import pytest

from retrieval.evaluation.content import (
    NoCandidates,
    NoSuchBenchmark,
    content_of,
    find_named_benchmark,
    pool_of,
)
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.models import Annotator, Benchmark, Label, Pool
from tests import factories
from tests.annotation.derived.extension.test_execution import add
from tests.retrieval.evaluation.conftest import LABELS, pair, say


def test_names_mean_the_newest_version(benchmark_: Benchmark, labelled: Order, annotator: Annotator) -> None:
    say(annotator, pair(labelled.queries, labelled.snippets, 2, 0), 1)
    second = publish_benchmark(labelled, Label.objects.all())
    assert (
        find_named_benchmark("small"),
        find_named_benchmark("small@1"),
        find_named_benchmark("small@2"),
    ) == (second, benchmark_, second)


@pytest.mark.parametrize("name", ["tiny", "@1", ""])
def test_another_name_is_told_those_that_there_are(benchmark_: Benchmark, name: str) -> None:
    with pytest.raises(NoSuchBenchmark, match="there are small"):
        find_named_benchmark(name)


@pytest.mark.parametrize("version", ["3", "", "²", "1" + "0" * 20])
def test_another_version_is_told_the_newest(benchmark_: Benchmark, version: str) -> None:
    with pytest.raises(NoSuchBenchmark, match="the newest is small@1"):
        find_named_benchmark(f"small@{version}")


def test_of_many_benchmarks_some_are_named_and_the_rest_counted(
    benchmark_: Benchmark, labelled: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.evaluation.content.NAMED", 1)
    publish_benchmark(replace(labelled, name="other"), Label.objects.all())
    with pytest.raises(NoSuchBenchmark, match="there are other and 1 more"):
        find_named_benchmark("tiny")


@pytest.mark.django_db
def test_without_any_it_is_told_how_to_get_one() -> None:
    with pytest.raises(NoSuchBenchmark, match="import cosqa"):
        find_named_benchmark("small")


def test_content_is_what_was_published(benchmark_: Benchmark, labelled: Order) -> None:
    add(("def later(rows):\n    return rows\n",), labelled.snippets)
    content = content_of(benchmark_)
    assert (len(content.queries), len(content.snippets)) == (3, 4)
    labels = {
        (content.queries.index(query), place): relevance
        for query, of_query in content.labels.items()
        for place, relevance in of_query.items()
    }
    assert labels == LABELS


def test_the_pool_is_the_collection_or_each_querys_candidates(labelled: Order) -> None:
    mining = factories.opened(k=2).own_mining
    made = publish_benchmark(
        Order("small", labelled.queries, labelled.snippets, "", mining), Label.objects.all()
    )
    content = content_of(made)
    assert pool_of(content, Pool.COLLECTION) is None
    pool = pool_of(content, Pool.CANDIDATES)
    assert pool is not None
    ranked = mining.candidates.filter(query=content.queries[0]).values_list("pair__snippet", flat=True)
    assert {content.snippets[place] for place in pool[content.queries[0]]} == set(ranked)


def test_the_candidates_of_all_minings_are_the_pool(labelled: Order) -> None:
    minings = [factories.mining(labelled.queries, labelled.snippets) for _ in range(2)]
    texts = [
        [row.text for row in of.members.order_by("position")] for of in (labelled.queries, labelled.snippets)
    ]
    for mining, places in zip(minings, ((0, 1), (1, 3)), strict=True):
        for rank, place in enumerate(places, 1):
            factories.candidate(mining, texts[0][0], texts[1][place], rank)
    first = publish_benchmark(replace(labelled, mining=minings[0]), Label.objects.all())
    both = publish_benchmark(replace(labelled, mining=minings[0], further=minings[1:]), Label.objects.all())
    pools = [pool_of(content_of(made), Pool.CANDIDATES) for made in (first, both)]
    assert [pool and pool[texts[0][0].pk] for pool in pools] == [[0, 1], [0, 1, 3]]
    assert first.digest != both.digest, "what is searched is part of a benchmark"


def test_without_a_mining_there_are_no_candidates(benchmark_: Benchmark) -> None:
    with pytest.raises(NoCandidates, match="leave --pool out"):
        pool_of(content_of(benchmark_), Pool.CANDIDATES)
