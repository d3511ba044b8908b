"""Encoders + collections → candidates: performs one Mining and stores what it found, with progress."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from retrieval import encoders
from retrieval.filtering import positions
from retrieval.filters import Rule, TextOption, text_of
from retrieval.filters.queries import QueryRule
from retrieval.fusion import Fusion
from retrieval.index import Hit, StageProgress, mine
from retrieval.models import Candidate, Member, Mining, Pair
from retrieval.vectors import VectorStore

QUERIES_A_BATCH = 200
MEMBERS_A_READ = 2000
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
    note_end(mining)
    queries = texts_of(queries_of(mining), "whole")
    snippets = texts_of(snippets_of(mining), mining.text_option)
    refuse_empty(mining, queries, snippets)
    chosen = [encoders.get(name) for name in mining.encoders]
    hits = mine(
        queries.texts,
        snippets.texts,
        chosen,
        mining.k,
        vectorise=VectorStore(vectors).rows,
        fusion=Fusion(mining.fusion),
        progress=progress,
    )
    return store(mining, queries.ids, snippets.ids, hits)


def note_end(mining: Mining) -> None:
    """Remember which snippets there are: whoever extends this mining can tell what was added since."""
    if mining.until is None:
        last = mining.snippets.members.aggregate(last=Max("position"))["last"]
        mining.until = 0 if last is None else last + 1
        mining.save(update_fields=["until"])


def queries_of(mining: Mining) -> list[int]:
    """Ids of the members whose candidates are wanted, by position: those chosen, else the first so many.

    Of either only queries that pass the mining's rule of queries.
    """
    rows = mining.queries.members.order_by("position")
    if not mining.chosen and not mining.query_rule:
        return list(rows.values_list("pk", flat=True)[: mining.limit])
    passing = set(positions(mining.queries, QueryRule(mining.query_rule)))
    wanted = passing.intersection(mining.chosen) if mining.chosen else passing
    found = [pk for pk, position in rows.values_list("pk", "position") if position in wanted]
    return found if mining.chosen else found[: mining.limit]


def snippets_of(mining: Mining) -> list[int]:
    """Ids of the members that may become candidates, by position."""
    rows = mining.snippets.members.passing(Rule(mining.rule)).filter(position__lt=mining.until)
    return list(rows.order_by("position").values_list("pk", flat=True))


def texts_of(members: Sequence[int], option: TextOption | str) -> Texts:
    """The texts of `members`, in their order, as they are encoded."""
    ids, texts = list[int](), list[str]()
    for start in range(0, len(members), MEMBERS_A_READ):
        rows = Member.objects.filter(pk__in=members[start : start + MEMBERS_A_READ])
        for row in rows.select_related("text__body").order_by("position"):
            ids.append(row.text_id)
            texts.append(text_of(row.text.text, option))
    return Texts(ids, texts)


def refuse_empty(mining: Mining, queries: Texts, snippets: Texts) -> None:
    if not queries.texts:
        passing = " that pass the rule; choose a wider one" if mining.query_rule else ""
        raise NothingToMine(f"{mining.queries} has no queries{passing}.")
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
