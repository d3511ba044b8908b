"""Stores what a mining found."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
from django.db import transaction
from django.utils import timezone

from retrieval.mining.alone import compute_encoder_overlaps
from retrieval.mining.lists import Indices, Lists
from retrieval.mining.parts import whole_alone
from retrieval.mining.recall_estimate import count_recovered_matches
from retrieval.models import Benchmark, Candidate, Mining, Pair, statements

PAIRS_A_TIME = 2_000
CANDIDATES_A_TIME = 2_000
COLUMNS = ("mining", "pair", "query", "rank", "score", "scores")


def store_candidates(mining: Mining, queries: Sequence[int], snippets: Sequence[int], lists: Lists) -> int:
    """Replace the candidates of `mining` by `lists` and close it; returns how many there are.

    `queries` and `snippets` are ids of texts, by their numbers. Of several workers that try, the first one
    does it. Pairs are stored before, a few at a time; the candidates in one transaction: nobody sees some of
    them, another worker waits for all, and one that is killed leaves the mining as it was.
    """
    pairs = stored_pairs(np.array(queries)[lists.owners], np.array(snippets)[lists.indices])
    with transaction.atomic():
        held = Mining.objects.select_for_update().get(pk=mining.pk)
        if held.state == Mining.State.DONE:
            return held.candidates.count()
        mining.candidates.all().delete()
        ranks = lists.ranks()
        for start in range(0, len(lists), CANDIDATES_A_TIME):
            rows = range(start, min(start + CANDIDATES_A_TIME, len(lists)))
            told = [
                (
                    mining.pk,
                    pairs[row],
                    queries[lists.owners[row]],
                    int(ranks[row]),
                    float(lists.scores[row]),
                    json.dumps(lists.scores_of(mining.encoders, row)),
                )
                for row in rows
            ]
            statements.insert_all(Candidate, COLUMNS, told)
        close_mining(mining, queries, snippets)
    return len(lists)


def resting_on(mining: Mining) -> str:
    """What rests on its candidates, so that it can't be mined again, in words that "on it" follows.

    Tables of other apps are found by their keys to candidates: nothing here knows them by name.
    """
    published = Benchmark.objects.filter(mining=mining).first()
    if published is not None:
        return f"benchmark {published} rests"
    for relation in Candidate._meta.related_objects:
        rows = relation.related_model._default_manager.filter(**{f"{relation.field.name}__mining": mining})
        if rows.exists():
            return f"the {relation.related_model._meta.verbose_name_plural} of a build rest"
    return ""


def stored_pairs(queries: Indices, snippets: Indices) -> list[int]:
    """The ids of the pairs of so many texts, in their order; new ones are stored.

    By ascending texts and a few at a time, each few for good: two minings of the same pairs would else wait
    for each other's.
    """
    found = np.zeros(len(queries), dtype=np.int64)
    order = np.lexsort((snippets, queries))
    for start in range(0, len(order), PAIRS_A_TIME):
        some = order[start : start + PAIRS_A_TIME]
        keys = list(zip(queries[some].tolist(), snippets[some].tolist(), strict=True))
        ids = Pair.objects.keep_ids(keys)
        found[some] = [ids[key] for key in keys]
    return list(found.tolist())


def close_mining(mining: Mining, queries: Sequence[int], snippets: Sequence[int]) -> None:
    """Done: what the parts found is no longer needed."""
    own = whole_alone(mining)
    common = compute_encoder_overlaps(mining.encoders, len(queries), mining.k, own) if own else []
    mining.parts.all().delete()
    mining.shared.all().delete()
    Mining.objects.filter(pk=mining.pk).update(
        state=Mining.State.DONE,
        message="",
        lease_until=None,
        finished_at=timezone.now(),
        recovered=count_recovered_matches(mining, queries, snippets),
        overlaps=[asdict(one) for one in common],
    )
