"""Holes of a run: results among its first ones that nobody has judged, and a benchmark with them filled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

import numpy as np
from django.db import transaction
from django.utils import timezone

from retrieval.evaluation.content import Content, content_of
from retrieval.evaluation.publishing import ROWS_A_READ, Chosen, Order, publish_chosen
from retrieval.evaluation.running import Tick, evaluated
from retrieval.metrics.names import UnknownMeasure, measures
from retrieval.models import (
    Benchmark,
    BenchmarkLabel,
    Candidate,
    Holes,
    Mining,
    Pair,
    Pool,
    RankedList,
    Run,
)
from retrieval.models.benchmarks import NOWHERE, Places

DEPTH: Final = 10
DEEPEST: Final = 1000
LISTS_A_READ: Final = 500
PAIRS_A_BATCH: Final = 1000
LONGEST_RULE: Final = 400


class NoHoles(ValueError):
    """There is nothing to fill, or nothing that could be published; the message says why."""


def unjudged(run: Run, content: Content, depth: int = DEPTH) -> Iterator[tuple[int, int, int]]:
    """Yield (query, snippet, rank) of the run's first results without a label, ids of texts, by query."""
    rows = RankedList.objects.filter(run=run).order_by("query").values_list("query_id", "data")
    for query, data in rows.iterator(LISTS_A_READ):
        judged = content.judged(query)
        for rank, place in enumerate(np.frombuffer(bytes(data), "<u4")[:depth].tolist(), 1):
            if place != NOWHERE and place not in judged:
                yield query, content.snippets[place], rank


def holes_of(run: Run, depth: int = DEPTH) -> int:
    """How many pairs a build would judge."""
    return sum(1 for _ in unjudged(run, content_of(run.benchmark), depth))


@transaction.atomic
def mined(run: Run, depth: int = DEPTH, *, people: bool = False) -> Holes:
    """The holes as a finished mining, whose candidates a build can judge, or people. Raises `NoHoles`."""
    benchmark = run.benchmark
    mining = Mining.objects.create(
        queries=benchmark.queries,
        snippets=benchmark.snippets,
        encoders=[f"results of {run.title}"[:120]],
        k=depth,
        until=benchmark.snippets_until,
        rule=0,
        text_option=run.text_option or "whole",
        state=Mining.State.DONE,
        finished_at=timezone.now(),
    )
    found = unjudged(run, content_of(benchmark), depth)
    count, batch = 0, list[tuple[int, int, int]]()
    for one in found:
        batch.append(one)
        if len(batch) == PAIRS_A_BATCH:
            count += _store(mining, batch)
            batch = []
    count += _store(mining, batch)
    if not count:
        raise NoHoles(f"Every one of the first {depth} results of {run.title} is judged.")
    return Holes.objects.create(mining=mining, run=run, depth=depth, pairs=count, people=people)


def _store(mining: Mining, batch: list[tuple[int, int, int]]) -> int:
    pairs = Pair.objects.keep_all([(query, snippet) for query, snippet, _ in batch])
    rows = [
        Candidate(mining=mining, pair=pair, query_id=query, rank=rank, score=1 / rank, scores={})
        for pair, (query, _, rank) in zip(pairs, batch, strict=True)
    ]
    Candidate.objects.bulk_create(rows)
    return len(rows)


def publish_filled(holes: Holes, filled: Iterable[Chosen], by: str) -> Benchmark:
    """The next version of the benchmark: its labels as they are, and what was said of the holes.

    `by` says in words who did. A pair that nobody could judge stays unjudged. It has the same members, so
    `carry` can score every run by it.
    """
    old = holes.run.benchmark
    rule = f"{old.merge_rule}; unjudged results of {holes.run.title}: {by}"
    order = Order(
        old.name,
        old.queries,
        old.snippets,
        rule[:LONGEST_RULE],
        mining=old.mining,
        further=old.minings[1:],
        searched=Pool(old.pool),
        queries_until=old.queries_until,
        snippets_until=old.snippets_until,
        holes=holes,
    )
    return publish_chosen(order, chain(_kept(old), filled))


def _kept(benchmark: Benchmark) -> Iterator[Chosen]:
    """What a benchmark holds, also labels that were merged of several and so have no source of their own."""
    columns = ("pair__query_id", "pair__snippet_id", "pair_id", "relevance", "label_id")
    rows = BenchmarkLabel.objects.filter(benchmark=benchmark).values_list(*columns)
    return (Chosen(*row) for row in rows.iterator(ROWS_A_READ))


def carry(old: Benchmark, new: Benchmark, tick: Tick = lambda queries: None) -> list[Run]:
    """Score every run of `old` by the labels of `new`; none where members were added, which none searched.

    Doing it twice keeps each once. `tick` is called with the number of queries scored since.
    """
    if new.snippets_until != old.snippets_until or new.queries_until != old.queries_until:
        return []
    content = content_of(new)
    return [_carried(run, content, tick) for run in Run.objects.filter(benchmark=old).order_by("pk")]


def _carried(run: Run, content: Content, tick: Tick) -> Run:
    rows = RankedList.objects.filter(run=run).values_list("query_id", "data").iterator(LISTS_A_READ)
    lists: dict[int, Places] = {query: np.frombuffer(bytes(data), "<u4") for query, data in rows}
    names = [name for name in run.scores.values_list("metric", flat=True) if _is_known(name)]
    columns = ("system", "encoders", "options", "text_option", "pool", "source")
    copy = Run(benchmark=content.benchmark, **{name: getattr(run, name) for name in columns})
    return evaluated(copy, lists, content, measures(names), tick=tick).run


def _is_known(name: str) -> bool:
    try:
        return bool(measures([name]))
    except UnknownMeasure:
        return False
