"""Encoders + collections → candidates: performs one Mining and stores what it found, with progress."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from retrieval import encoders
from retrieval.filters import Rule, TextOption, text_of
from retrieval.index import Hit, StageProgress, mine
from retrieval.models import Candidate, Collection, Member, Mining, Pair
from retrieval.vectors import VectorStore

QUERIES_A_BATCH = 200
SECONDS_BETWEEN_REPORTS = 0.5


class NothingToMine(ValueError):
    """No query or no snippet is left; the message says which rule or collection is to blame."""


@dataclass(frozen=True)
class Texts:
    """Texts of one collection with the ids of their rows, in the collection's order."""

    ids: Sequence[int]
    texts: Sequence[str]


def perform(mining: Mining, vectors: Path, progress: StageProgress | None = None) -> int:
    """Find and store the candidates of `mining`; returns their number. Safe to run again after a crash.

    `vectors` is the folder of the vector store. Raises NothingToMine, encoders.MissingWeights and
    encoders.UnknownEncoder; the caller records the failure.
    """
    queries = texts_of(mining.queries, Rule(0), "whole", mining.limit)
    snippets = texts_of(mining.snippets, Rule(mining.rule), mining.text_option, None)
    refuse_empty(mining, queries, snippets)
    chosen = [encoders.get(name) for name in mining.encoders]
    hits = mine(
        queries.texts,
        snippets.texts,
        chosen,
        mining.k,
        vectorise=VectorStore(vectors).rows,
        progress=progress,
    )
    return store(mining, queries.ids, snippets.ids, hits)


def texts_of(collection: Collection, rule: Rule, option: TextOption | str, limit: int | None) -> Texts:
    """The members of `collection` that pass `rule`, as the text that is encoded."""
    rows = Member.objects.passing(rule).filter(collection=collection).order_by("position")
    chosen = rows.select_related("text__body")[:limit]
    pairs = [(row.text_id, row.text.text) for row in chosen.iterator(chunk_size=2000)]
    return Texts([i for i, _ in pairs], [text_of(text, option) for _, text in pairs])


def refuse_empty(mining: Mining, queries: Texts, snippets: Texts) -> None:
    if not queries.texts:
        raise NothingToMine(f"{mining.queries} has no queries.")
    if not snippets.texts:
        raise NothingToMine(f"No snippet of {mining.snippets} passes the rule; choose a wider one.")


def store(
    mining: Mining, queries: Sequence[int], snippets: Sequence[int], hits: Sequence[Sequence[Hit]]
) -> int:
    """Replace the candidates of `mining` by `hits`, in one transaction."""
    with transaction.atomic():
        mining.candidates.all().delete()
        for start in range(0, len(queries), QUERIES_A_BATCH):
            block = slice(start, start + QUERIES_A_BATCH)
            store_block(mining, queries[block], snippets, hits[block])
    return sum(len(found) for found in hits)


def store_block(
    mining: Mining, queries: Sequence[int], snippets: Sequence[int], hits: Sequence[Sequence[Hit]]
) -> None:
    keys = [(query, snippets[hit.index]) for query, found in zip(queries, hits, strict=True) for hit in found]
    pairs = iter(Pair.objects.keep_all(keys))
    rows = [
        candidate(mining, query, next(pairs), rank, hit)
        for query, found in zip(queries, hits, strict=True)
        for rank, hit in enumerate(found, 1)
    ]
    Candidate.objects.bulk_create(rows, batch_size=1000)


def candidate(mining: Mining, query: int, pair: Pair, rank: int, hit: Hit) -> Candidate:
    scores = {name: {"entering": hit.entering[name], "raw": hit.raw[name]} for name in hit.entering}
    return Candidate(mining=mining, pair=pair, query_id=query, rank=rank, score=hit.score, scores=scores)


class Reporter:
    """Writes a mining's progress to its row, at most twice a second."""

    def __init__(self, mining: Mining) -> None:
        self.mining = mining
        self.last = 0.0

    def __call__(self, phase: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.last < SECONDS_BETWEEN_REPORTS and done < total:
            return
        self.last = now
        Mining.objects.filter(pk=self.mining.pk).update(phase=phase, done=done, total=total)


def finish(mining: Mining, state: str, message: str = "") -> None:
    """Close the mining's row."""
    Mining.objects.filter(pk=mining.pk).update(
        state=state, message=message, lease_until=None, finished_at=timezone.now()
    )
