"""Holes of a run: results among its first ones that nobody has judged, and a benchmark with them filled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

import numpy as np
from django.db import transaction
from django.utils import timezone

from retrieval.evaluation.content import Content, content_of
from retrieval.evaluation.label_join import join_hole_labels
from retrieval.evaluation.publication import Chosen, Order, publish_chosen
from retrieval.models import (
    Benchmark,
    Candidate,
    Collection,
    Holes,
    Mining,
    Pair,
    Pool,
    RankedList,
    Run,
)
from retrieval.models.benchmarks import NOWHERE

DEPTH: Final = 10
DEEPEST: Final = 1000
LISTS_A_READ: Final = 500
PAIRS_A_BATCH: Final = 1000
LONGEST_RULE: Final = 400


class NoHoles(ValueError):
    """There is nothing to fill, or nothing that could be published; the message says why."""


def find_unjudged_results(run: Run, content: Content, depth: int = DEPTH) -> Iterator[tuple[int, int, int]]:
    """Yield (query, snippet, rank) of the run's first results without a label, ids of texts, by query.

    Each pair of texts once, and none that has a label by whichever of its ids.
    """
    rows = RankedList.objects.filter(run=run).order_by("query", "alias").values_list("query_id", "data")
    for query, lists in groupby(rows.iterator(LISTS_A_READ), key=lambda row: row[0]):
        asked = content.query_keys.get(query, (query,))
        seen = {content.snippets[place] for key in asked for place in content.judged(key)}
        for _, data in lists:
            for rank, place in enumerate(np.frombuffer(bytes(data), "<u4")[:depth].tolist(), 1):
                if place != NOWHERE and (snippet := content.snippets[place]) not in seen:
                    seen.add(snippet)
                    yield query, snippet, rank


def holes_of(run: Run, depth: int = DEPTH) -> int:
    """How many pairs a build would judge."""
    return sum(1 for _ in find_unjudged_results(run, content_of(run.benchmark), depth))


@transaction.atomic
def mine_run_holes(run: Run, depth: int = DEPTH, *, people: bool = False) -> Holes:
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
    found = find_unjudged_results(run, content_of(benchmark), depth)
    count, batch = 0, list[tuple[int, int, int]]()
    for result in found:
        batch.append(result)
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


@transaction.atomic
def publish_filled(holes: Holes, filled: Iterable[Chosen], by: str) -> Benchmark:
    """The next version of the benchmark: the labels of its newest one, and what was said of the holes.

    `by` says in words who did. A pair that nobody could judge stays unjudged. It has the members of the
    newest version, so `rescore_runs` can score every run by it. Raises `NoHoles` where that is about
    something else.
    """
    base = _newest(holes.run.benchmark)
    order = Order(
        base.name,
        base.queries,
        base.snippets,
        _rule(base, f"; unjudged results of {holes.run.title}: {by}"),
        mining=base.mining,
        further=base.minings[1:],
        searched=Pool(base.pool),
        queries_until=base.queries_until,
        snippets_until=base.snippets_until,
        holes=holes,
        previous_version=base,
    )
    return publish_chosen(order, join_hole_labels(base, holes, filled))


def _newest(old: Benchmark) -> Benchmark:
    """The version that the next one goes on from, while nobody publishes beside us. Raises `NoHoles`."""
    Collection.objects.select_for_update().get(pk=old.queries_id)
    newest = Benchmark.objects.newest(old.name) or old
    if newest.pool != old.pool:
        told = f"systems search {newest.get_pool_display()} there, and {old.get_pool_display()} in {old}"
    elif (newest.queries_id, newest.snippets_id) != (old.queries_id, old.snippets_id):
        told = f"it is of other collections than {old}"
    elif newest.queries_until < old.queries_until or newest.snippets_until < old.snippets_until:
        told = f"it has fewer queries or functions than {old}"
    else:
        return newest
    raise NoHoles(
        f"The newest version, {newest}, can't take the labels of these holes: {told}. Have unjudged results "
        f"of a run on {newest} judged."
    )


def _rule(base: Benchmark, more: str) -> str:
    """The merge rule in words, with what was filled; the same is said once, however often it is published."""
    return (base.merge_rule if more in base.merge_rule else base.merge_rule + more)[:LONGEST_RULE]
