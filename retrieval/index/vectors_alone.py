"""Which snippets could be among a query's k best, where vectors alone take part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from retrieval.encoders.base import Doubles
from retrieval.index.product import Indices
from retrieval.index.search import Joined, find_top_candidates
from retrieval.index.signals import DECIMALS, Cosines, Options

QUERIES_AT_ONCE = 64
SNIPPETS_A_BLOCK = 4_096


def with_largest(signal: Cosines, options: Options) -> Cosines:
    """`signal` with each query's largest absolute cosine, unless it has that of more snippets than these."""
    if signal.largest is not None:
        return signal
    return replace(signal, largest=largest_cosines(signal, options))


def largest_cosines(signal: Cosines, options: Options) -> Doubles:
    """Each query's largest absolute cosine, shape (q,), exactly: of the query or of its opposite."""
    above = largest_of(signal, np.full(len(signal.queries), -np.inf), options)
    opposite = Cosines(signal.name, -signal.queries, signal.snippets)
    return largest_of(opposite, above, options)


def largest_of(signal: Cosines, least: Doubles, options: Options) -> Doubles:
    """The larger of each query's largest cosine and `least`, shape (q,)."""
    count, largest = len(signal.snippets), least.copy()
    report = options.report(f"largest of {signal.name}")
    found = find_top_candidates(
        signal.queries,
        Joined([signal.snippets]),
        1,
        format_=options.format_,
        least=least,
        scanned=report,
    )
    crowded = [query for query, candidate in enumerate(found) if candidate is None]
    sure = [
        (query, candidate)
        for query, candidate in enumerate(found)
        if candidate is not None and len(candidate)
    ]
    for start in range(0, len(sure), QUERIES_AT_ONCE):
        some = sure[start : start + QUERIES_AT_ONCE]
        owners = np.repeat([query for query, _ in some], [len(one) for _, one in some])
        np.maximum.at(largest, owners, signal.raw(owners, np.concatenate([one for _, one in some])))
    for query in crowded:
        largest[query] = max(largest[query], signal.raw(np.full(count, query), np.arange(count)).max())
    return largest


def best_by_vectors(dense: Sequence[Cosines], k: int, options: Options) -> list[Indices]:
    """For each query a superset of its k best snippets; where float32 can't tell them apart, the k best."""
    report, everything = options.report("search"), slice(None)
    queries = np.hstack([s.queries * (s.weights(everything) / np.float32(len(dense))) for s in dense])
    total = len(queries)
    found = find_top_candidates(
        queries,
        Joined([signal.snippets for signal in dense]),
        k,
        format_=options.format_,
        scanned=lambda done, snippets: report(done * (total - 1) // snippets, total),
    )
    crowded = np.array([query for query, candidate in enumerate(found) if candidate is None], dtype=np.int64)
    for start in range(0, len(crowded), QUERIES_AT_ONCE):
        some = crowded[start : start + QUERIES_AT_ONCE]
        for query, one in zip(some, best_in_doubles(dense, some, k, options), strict=True):
            found[query] = one
    return [candidate for candidate in found if candidate is not None]


def best_in_doubles(dense: Sequence[Cosines], queries: Indices, k: int, options: Options) -> Indices:
    """The k best snippets of some queries by a full pass in float64, shape (len(queries), k)."""
    scores, indices = np.empty((len(queries), 0)), np.empty((len(queries), 0), dtype=np.int64)
    for start in range(0, len(dense[0].snippets), SNIPPETS_A_BLOCK):
        stop = min(start + SNIPPETS_A_BLOCK, len(dense[0].snippets))
        means = np.round(
            np.mean([score_in_float64(one, queries, start, stop) for one in dense], axis=0), DECIMALS
        )
        scores = np.hstack([scores, means])
        indices = np.hstack([indices, np.broadcast_to(np.arange(start, stop), means.shape)])
        best = np.lexsort((options.order_of(indices), -scores), axis=1)[:, :k]
        scores, indices = np.take_along_axis(scores, best, 1), np.take_along_axis(indices, best, 1)
    return indices


def score_in_float64(signal: Cosines, queries: Indices, start: int, stop: int) -> Doubles:
    """What enters of some queries with the snippets from `start` to `stop`, in float64."""
    vectors = signal.snippets[start:stop].astype(np.float64)
    raw = np.round(signal.queries[queries].astype(np.float64) @ vectors.T, DECIMALS)
    return signal.entering(queries[:, None], raw)
