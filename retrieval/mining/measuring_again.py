"""A finished mining's own figures once more: matches found again, and what an approximate index met."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from retrieval.encoders import Encoder
from retrieval.index import mine_best_snippets
from retrieval.index.approximate import SAMPLED_QUERIES, SEED
from retrieval.index.vectors import VectorStore
from retrieval.mining.input_texts import queries_of_mining, snippets_of, text_ids, texts_of
from retrieval.mining.recall_estimate import count_recovered_matches
from retrieval.models import Candidate, Mining


def recovered_again(mining: Mining) -> dict[str, Any]:
    """What it recovered, counted of its candidates and of the labels that there were when it ended."""
    mined = found_of(mining)
    asked = text_ids(queries_of_mining(mining))  # the collection may have grown since
    last = max((place for place, query in enumerate(asked) if query in mined), default=-1)
    queries = asked[: last + 1]
    return count_recovered_matches(mining, queries, text_ids(snippets_of(mining)), until=mining.finished_at)


def recall_again(mining: Mining, known: Sequence[Encoder], vectors: Path) -> float:
    """The share of exact search's best that its candidates have, for the queries that were drawn then.

    Raises what `known` raise where a vector is not in the store.
    """
    found = found_of(mining)
    every = texts_of(queries_of_mining(mining), "whole")
    asked = [(query, text) for query, text in zip(every.ids, every.texts, strict=True) if query in found]
    drawn = np.sort(np.random.default_rng(SEED).permutation(len(asked))[:SAMPLED_QUERIES])
    sample = [asked[place] for place in drawn.tolist()]
    snippets = texts_of(snippets_of(mining), mining.text_option)
    exact = mine_best_snippets(
        [text for _, text in sample],
        snippets.texts,
        known,
        mining.k,
        vectorise=VectorStore(vectors, mining.text_option).rows,
    )
    shares = [
        len({snippets.ids[hit.index] for hit in hits} & found[query]) / len(hits)
        for (query, _), hits in zip(sample, exact, strict=True)
    ]
    return float(np.mean(shares))


def found_of(mining: Mining) -> dict[int, set[int]]:
    """By query (id of its text), the ids of its candidates' snippets, of those that have some."""
    found: dict[int, set[int]] = {}
    rows = Candidate.objects.filter(mining=mining).order_by()
    for query, snippet in rows.values_list("query_id", "pair__snippet_id").iterator(2000):
        found.setdefault(query, set()).add(snippet)
    return found
