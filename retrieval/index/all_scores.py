"""Which snippets could be among a query's k best, where terms take part beside vectors: of every mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from retrieval.encoders.base import Doubles, Floats
from retrieval.index.product import UNIT, Indices
from retrieval.index.search import iterate_row_pieces
from retrieval.index.signals import Cosines, Lexical, Terms
from retrieval.index.vectors_alone import SNIPPETS_A_BLOCK

QUERIES_A_BLOCK = 4_096


def compute_mean_scores(
    dense: Sequence[Cosines], lexical: Mapping[str, Lexical], block: range, snippets: int
) -> Floats:
    """Float32 means of a block of queries with every snippet, shape (len(block), snippets)."""
    total = np.zeros((len(block), snippets), dtype=np.float32)
    part = slice(block.start, block.stop)
    for signal in dense:
        queries = signal.queries[part] * signal.weights(part)
        for start in range(0, snippets, SNIPPETS_A_BLOCK):
            for first, vectors in iterate_row_pieces(
                signal.snippets, start, min(start + SNIPPETS_A_BLOCK, snippets)
            ):
                total[:, first : first + len(vectors)] += queries @ vectors.T
    for scores in lexical.values():
        for row in range(len(block)):
            total[row] += scores.entering_of(row).astype(np.float32)
    return total / np.float32(len(dense) + len(lexical))


def bound_mean_errors(dense: Sequence[Cosines], block: range) -> Doubles:
    """How far a mean of `_means` can be off, shape (len(block),).

    A float32 sum of d products of unit vectors errs by at most d + 2 units of 2^-24, whatever its order; each
    number that enters is rounded once, and so are the sum after each of them and the mean.
    """
    part = slice(block.start, block.stop)
    heights = [signal.weights(part)[:, 0].astype(np.float64) for signal in dense]
    terms = [signal.queries.shape[1] + 8 for signal in dense]
    summed = sum((height * n for height, n in zip(heights, terms, strict=True)), np.full(len(block), 16.0))
    return summed * UNIT * 1.01


def above_kth(means: Floats, off: Doubles, k: int) -> list[Indices]:
    place = means.shape[1] - k
    ordered = np.partition(means, place, axis=1)
    least = ordered[:, place].astype(np.float64) - 2 * off
    return [np.flatnonzero(means[row] >= least[row]) for row in range(len(means))]


def queries_a_block(signals: Sequence[Cosines | Terms], snippets: int, memory_mb: int) -> int:
    lexical = sum(isinstance(signal, Terms) for signal in signals)
    bytes_a_query = snippets * (8 + 24 * lexical)
    return max(1, min(QUERIES_A_BLOCK, memory_mb * 2**20 // bytes_a_query))
