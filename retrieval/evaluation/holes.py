"""Holes of a run: results among its first ones that nobody has judged, and a benchmark with them filled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from retrieval.evaluation.content import Content, content_of
from retrieval.evaluation.publishing import Order, publish
from retrieval.evaluation.running import evaluated
from retrieval.metrics.names import UnknownMeasure, measures
from retrieval.models import (
    Annotator,
    Benchmark,
    BenchmarkLabel,
    Candidate,
    Holes,
    Label,
    Mining,
    Pair,
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
def mined(run: Run, depth: int = DEPTH) -> Holes:
    """The holes as a finished mining, whose candidates a build can judge. Raises `NoHoles`."""
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
    return Holes.objects.create(mining=mining, run=run, depth=depth, pairs=count)


def _store(mining: Mining, batch: list[tuple[int, int, int]]) -> int:
    pairs = Pair.objects.keep_all([(query, snippet) for query, snippet, _ in batch])
    rows = [
        Candidate(mining=mining, pair=pair, query_id=query, rank=rank, score=1 / rank, scores={})
        for pair, (query, _, rank) in zip(pairs, batch, strict=True)
    ]
    Candidate.objects.bulk_create(rows)
    return len(rows)


def publish_filled(holes: Holes, by: Annotator) -> Benchmark:
    """The next version of the benchmark, with what `by` said of the holes; runs come along where they can.

    A pair that `by` could not judge stays unjudged. Raises `NoHoles` where it has judged none.
    """
    old = holes.run.benchmark
    filled = Q(annotator=by, value__isnull=False, pair__in=holes.mining.candidates.values("pair"))
    if not Label.objects.filter(filled).exists():
        raise NoHoles(f"{by} has judged none of the pairs yet.")
    if BenchmarkLabel.objects.filter(benchmark=old, label=None).exists():
        raise NoHoles(f"{old} has labels that were merged of several: publish it by its merge rule instead.")
    kept = Q(pk__in=BenchmarkLabel.objects.filter(benchmark=old).values("label"))
    rule = f"{old.merge_rule}; unjudged results of {holes.run.title}: {by}"
    order = Order(old.name, old.queries, old.snippets, rule[:LONGEST_RULE], old.mining)
    new = publish(order, Label.objects.filter(kept | filled))
    carry(old, new)
    return new


def carry(old: Benchmark, new: Benchmark) -> list[Run]:
    """Score every run of `old` by the labels of `new`; none where members were added, which none searched."""
    if new.snippets_until != old.snippets_until or new.queries_until != old.queries_until:
        return []
    content = content_of(new)
    return [_carried(run, content) for run in Run.objects.filter(benchmark=old).order_by("pk")]


def _carried(run: Run, content: Content) -> Run:
    rows = RankedList.objects.filter(run=run).values_list("query_id", "data").iterator(LISTS_A_READ)
    lists: dict[int, Places] = {query: np.frombuffer(bytes(data), "<u4") for query, data in rows}
    names = [name for name in run.scores.values_list("metric", flat=True) if _is_known(name)]
    columns = ("system", "encoders", "options", "text_option", "pool", "source")
    copy = Run(benchmark=content.benchmark, **{name: getattr(run, name) for name in columns})
    return evaluated(copy, lists, content, measures(names)).run


def _is_known(name: str) -> bool:
    try:
        return bool(measures([name]))
    except UnknownMeasure:
        return False
