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
    encode_signals,
    find_block_hits,
    first_of_each,
    fuse_signals,
)
from retrieval.index.product import Floats, Indices
from retrieval.index.search import Joined
from retrieval.index.ties import rank_by_hash
from retrieval.index.vectors_alone import best_in_doubles
from retrieval.nearest import Approximate, rows_to_learn_from

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


def mine_approximately(
    queries: Sequence[str],
    snippets: Sequence[str],
    encoders: Sequence[Encoder],
    k: int,
    kind: str,
    vectorise: Vectorise,
    progress: StageProgress | None = None,
) -> tuple[list[list[Hit]], Recall]:
    """Hits as `mine_best_snippets` gives them, by an index of `kind`, one of `index.nearest.INDEXES`.

    The encoders are dense; their scores enter by the mean. The index holds all vectors in memory.
    """
    kept = first_of_each(snippets)
    texts = [snippets[i] for i in kept]
    options = Options(progress=progress, ties=rank_by_hash(texts))
    found = encode_signals(queries, texts, encoders, vectorise, options)
    signals = [signal for signal in found if isinstance(signal, Cosines)]
    k = min(k, len(kept))
    hits = list(search_approximate_index(signals, k, kind, options))
    recall = measure_index_recall(signals, hits, k, kind)
    return [[replace(hit, index=int(kept[hit.index])) for hit in some] for some in hits], recall


def search_approximate_index(
    signals: Sequence[Cosines], k: int, kind: str, options: Options
) -> Iterator[list[Hit]]:
    """The hits of each query."""
    snippets = Joined([signal.snippets for signal in signals])
    index, total = build_approximate_index(snippets, kind, options), len(signals[0].queries)
    queries = np.hstack([signal.queries for signal in signals])
    for start in range(0, total, QUERIES_A_SEARCH):
        found = find_index_neighbours(index, queries[start : start + QUERIES_A_SEARCH], k)
        lacking = np.array([row for row, neighbour in enumerate(found) if len(neighbour) < k], dtype=np.int64)
        if len(lacking):
            for row, one in zip(lacking, best_in_doubles(signals, lacking + start, k, options), strict=True):
                found[row] = np.sort(one)
        for first, some in a_few(found):
            yield from find_block_hits(signals, k, options, (start + first, some))
        options.report("search")(min(start + QUERIES_A_SEARCH, total), total)


def build_approximate_index(snippets: Joined, kind: str, options: Options) -> Approximate:
    """An index of all snippets."""
    count, zero = len(snippets), np.zeros_like(snippets.centre())
    wanted = rows_to_learn_from(count)
    sample = snippets[np.unique(np.linspace(0, count - 1, wanted).astype(np.int64))]
    return Approximate(kind, count, sample, blocks_of(snippets, zero, options))


def blocks_of(snippets: Joined, zero: Floats, options: Options) -> Iterator[Floats]:
    for block in snippets.blocks(zero):
        yield block.rows
        options.report("filling the index")(block.start + len(block.rows), len(snippets))


def find_index_neighbours(index: Approximate, queries: Floats, k: int) -> list[Indices]:
    """What the index meets for each query, ascending."""
    return [np.sort(row[row >= 0]) for row in index.best(queries, MORE * k)]


def measure_index_recall(
    signals: Sequence[Cosines], hits: Sequence[Sequence[Hit]], k: int, kind: str
) -> Recall:
    """The recall of `hits` on a sample of the queries."""
    total, count = len(hits), len(signals[0].snippets)
    drawn = np.sort(np.random.default_rng(SEED).permutation(total)[:SAMPLED_QUERIES])
    some = [replace(signal, queries=signal.queries[drawn]) for signal in signals]
    shares = [
        len({hit.index for hit in exact} & {hit.index for hit in hits[query]}) / k
        for query, exact in zip(drawn.tolist(), fuse_signals(some, len(drawn), count, k), strict=True)
    ]
    return Recall(kind, k, len(drawn), SEED, float(np.mean(shares)))
