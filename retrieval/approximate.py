"""The k best snippets of each query by an approximate index, and how many of exact search's these are.

Asked for by name alone. What is found is scored in float64 and ranked as exact search ranks it; what the
index does not meet is missing, and its share is measured on a sample of the queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from retrieval.encoders.base import Encoder
from retrieval.index import (
    Cosines,
    Hit,
    Options,
    StageProgress,
    Vectorise,
    a_few,
    first_of_each,
    fuse,
    prepare,
    together,
)
from retrieval.index.vectors_alone import best_in_doubles
from retrieval.nearest import Approximate, rows_to_learn_from
from retrieval.product import Floats, Indices
from retrieval.search import Joined

SAMPLED_QUERIES, SEED = 200, 7
MORE = 2
"""So many times k are asked of the index, as its float32 does not rank near-ties."""

QUERIES_A_SEARCH = 256


@dataclass(frozen=True, slots=True)
class Recall:
    """The mean share of exact search's k best that an index found, over queries drawn by a seed."""

    index: str
    k: int
    queries: int
    seed: int
    recall: float


def mine(
    queries: Sequence[str],
    snippets: Sequence[str],
    encoders: Sequence[Encoder],
    k: int,
    kind: str,
    vectorise: Vectorise,
    progress: StageProgress | None = None,
) -> tuple[list[list[Hit]], Recall]:
    """Hits as `retrieval.index.mine` gives them, by an index of `kind`, one of `retrieval.nearest.INDEXES`.

    The encoders are dense; their scores enter by the mean. The index holds all vectors in memory.
    """
    kept, options = first_of_each(snippets), Options(progress=progress)
    found = prepare(queries, [snippets[i] for i in kept], encoders, vectorise, options)
    signals = [one for one in found if isinstance(one, Cosines)]
    k = min(k, len(kept))
    hits = list(searched(signals, k, kind, options))
    recall = measured(signals, hits, k, kind)
    return [[replace(hit, index=int(kept[hit.index])) for hit in some] for some in hits], recall


def searched(signals: Sequence[Cosines], k: int, kind: str, options: Options) -> Iterator[list[Hit]]:
    """The hits of each query."""
    snippets = Joined([one.snippets for one in signals])
    index, total = filled(snippets, kind, options), len(signals[0].queries)
    queries = np.hstack([one.queries for one in signals])
    for start in range(0, total, QUERIES_A_SEARCH):
        found = met(index, queries[start : start + QUERIES_A_SEARCH], k)
        lacking = np.array([row for row, one in enumerate(found) if len(one) < k], dtype=np.int64)
        if len(lacking):
            for row, one in zip(lacking, best_in_doubles(signals, lacking + start, k), strict=True):
                found[row] = np.sort(one)
        for first, some in a_few(found):
            yield from together(signals, k, (start + first, some))
        options.report("search")(min(start + QUERIES_A_SEARCH, total), total)


def filled(snippets: Joined, kind: str, options: Options) -> Approximate:
    """An index of all snippets."""
    count, zero = len(snippets), np.zeros_like(snippets.centre())
    wanted = rows_to_learn_from(count)
    sample = snippets[np.unique(np.linspace(0, count - 1, wanted).astype(np.int64))]
    return Approximate(kind, count, sample, blocks_of(snippets, zero, options))


def blocks_of(snippets: Joined, zero: Floats, options: Options) -> Iterator[Floats]:
    for block in snippets.blocks(zero):
        yield block.rows
        options.report("filling the index")(block.start + len(block.rows), len(snippets))


def met(index: Approximate, queries: Floats, k: int) -> list[Indices]:
    """What the index meets for each query, ascending."""
    return [np.sort(row[row >= 0]) for row in index.best(queries, MORE * k)]


def measured(signals: Sequence[Cosines], hits: Sequence[Sequence[Hit]], k: int, kind: str) -> Recall:
    """The recall of `hits` on a sample of the queries."""
    total, count = len(hits), len(signals[0].snippets)
    drawn = np.sort(np.random.default_rng(SEED).permutation(total)[:SAMPLED_QUERIES])
    some = [replace(one, queries=one.queries[drawn]) for one in signals]
    shares = [
        len({hit.index for hit in exact} & {hit.index for hit in hits[query]}) / k
        for query, exact in zip(drawn.tolist(), fuse(some, len(drawn), count, k), strict=True)
    ]
    return Recall(kind, k, len(drawn), SEED, float(np.mean(shares)))
