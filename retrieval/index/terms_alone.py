"""Which snippets could be among a query's k best, where terms alone take part.

The weights of all encoders and fields are put together, so that a mean is one sparse product. A rare term is
in few snippets, a common one in most. So only the heaviest weights of each term are multiplied first. Then

- what a snippet found by them lacks is added: the light weights of the query's common terms;
- a snippet that was not found can at most reach the largest light weights together (MaxScore: Turtle and
  Flood 1995, "Query evaluation: strategies and optimizations"). Unless that is surely below the k-th best,
  the weights of all snippets are added up.

All is float32, with room for its rounding: nothing that could be among the k best is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from retrieval.encoders.base import DECIMALS, Doubles, Floats, shares_of
from retrieval.fusion import Fusion, invert_largest_scores, scale_scores
from retrieval.index.product import UNIT, Indices
from retrieval.index.signals import PairScores, Terms

QUERIES_A_BLOCK: Final = 256
HEAVY: Final = 1 / 16
"""The largest weights of a term are those of this share of the snippets."""
FEWEST: Final = 16


@dataclass(frozen=True, slots=True)
class Joined:
    """All fields' weights of the snippets under each other, in float32.

    `heavy`, shape (terms, snippets): the few largest weights of each term. `common`: the numbers of
    the terms that have more; `light`, shape (common, snippets): these others; `tops`: the largest of each.
    """

    heavy: csr_array
    common: Indices
    light: Floats
    tops: Floats

    @classmethod
    def of(cls, fields: Sequence[csr_array]) -> Joined:
        weights = csr_array(vstack(fields, format="csr"), dtype=np.float32)
        few = max(FEWEST, int(HEAVY * weights.shape[1]))
        common = np.flatnonzero(np.diff(weights.indptr) > few)
        light = weights[common].toarray()
        for place, term in enumerate(common.tolist()):
            part = slice(weights.indptr[term], weights.indptr[term + 1])
            values = weights.data[part]
            largest = np.argpartition(values, len(values) - few)[len(values) - few :]
            light[place, weights.indices[part][largest]] = 0
            rest = np.ones(len(values), dtype=bool)
            rest[largest] = False
            values[rest] = 0
        weights.eliminate_zeros()
        return cls(weights, common, light, light.max(axis=1, initial=0.0))


class TermSearch:
    """A search of some encoders' snippets by the mean of what enters."""

    def __init__(self, signals: Sequence[Terms], fusion: Fusion) -> None:
        self.signals, self.fusion = signals, fusion
        fields = [[field.snippets for field in signal.index.weigh_terms([])] for signal in signals]
        self.joined = Joined.of(list(chain.from_iterable(fields)))
        self.by_snippet = [[csr_array(field.T) for field in own] for own in fields]

    def blocks(self, k: int) -> Iterator[tuple[range, list[Indices], dict[str, PairScores]]]:
        """Some queries at a time: which they are, of each the snippets, ascending, that could be among its k
        best and share a term, and the scores of pairs by the encoder's name.
        """
        queries = len(self.signals[0].queries)
        for start in range(0, queries, QUERIES_A_BLOCK):
            block = range(start, min(start + QUERIES_A_BLOCK, queries))
            asked = [Asked.of(signal, block, self.fusion) for signal in self.signals]
            scores: dict[str, PairScores] = {
                signal.name: SparseScores(one, fields, self.fusion)
                for signal, one, fields in zip(self.signals, asked, self.by_snippet, strict=True)
            }
            yield block, find_term_candidates(asked, self.joined, k), scores


@dataclass(frozen=True, slots=True)
class Asked:
    """An encoder's weights of a block of queries, an array a field, and what scores are divided by."""

    fields: Sequence[csr_array]
    most: Doubles

    @classmethod
    def of(cls, signal: Terms, block: range, fusion: Fusion) -> Asked:
        texts = signal.queries[block.start : block.stop]
        most = signal.index.bound_scores(texts)
        if fusion is Fusion.MAXABS and signal.largest is not None:
            most = signal.largest[block.start : block.stop]
        return cls([field.queries for field in signal.index.weigh_terms(texts)], most)


@dataclass(frozen=True, slots=True)
class SparseScores:
    """The scores of pairs of a block; `snippets` are the fields' weights by snippet, shape (n, terms)."""

    asked: Asked
    snippets: Sequence[csr_array]
    fusion: Fusion

    def raw(self, rows: Indices, snippets: Indices) -> Doubles:
        """What `LexicalIndex.scores` has of these pairs, to the last bit: terms are added in their order."""
        total = np.zeros(len(rows))
        for queries, weights in zip(self.asked.fields, self.snippets, strict=True):
            products = csr_array(queries[rows].multiply(weights[snippets]))
            total += np.round(products @ np.ones(products.shape[1]), DECIMALS)
        return total

    def entering(self, rows: Indices, raw: Doubles) -> Doubles:
        most = self.asked.most[rows]
        return scale_scores(raw, most) if self.fusion is Fusion.MAXABS else shares_of(raw, most)


def with_largest_term_scores(signal: Terms) -> Terms:
    """`signal` with each query's largest score, unless it has that of more snippets than these."""
    return signal if signal.largest is not None else replace(signal, largest=largest_term_scores(signal))


def largest_term_scores(signal: Terms) -> Doubles:
    """Each query's largest score with any snippet, shape (q,)."""
    largest = np.zeros(len(signal.queries))
    for block, found, scores in TermSearch([replace(signal, largest=None)], Fusion.MEAN).blocks(1):
        rows = np.repeat(np.arange(len(block)), [len(one) for one in found])
        np.maximum.at(largest, rows + block.start, scores[signal.name].raw(rows, np.concatenate(found)))
    return largest


def find_term_candidates(asked: Sequence[Asked], joined: Joined, k: int) -> list[Indices]:
    """For each query of a block the snippets that could be among its k best."""
    queries, off = join_queries(asked)
    often = queries[:, joined.common]
    limits = often @ joined.tops
    found = csr_array(queries @ joined.heavy)
    return [
        find_row_candidates(joined, Row.of(found, row), Row.of(often, row), k, float(limits[row]), off[row])
        for row in range(len(off))
    ]


def join_queries(asked: Sequence[Asked]) -> tuple[csr_array, Doubles]:
    """All fields of the queries side by side, such that a product is a mean; and how far one can be off.

    A float32 sum of n products errs by at most n + 2 units of 2^-24 of it, and heavy and light weights are
    added apart. Raw scores and shares are rounded to DECIMALS.
    """
    parts, off = list[csr_array](), np.zeros(len(asked[0].most))
    for one in asked:
        scale = invert_largest_scores(one.most) / len(asked)
        for field in one.fields:
            parts.append(
                csr_array(
                    (field.data * np.repeat(scale, np.diff(field.indptr)), field.indices, field.indptr),
                    field.shape,
                )
            )
            off += 10.0**-DECIMALS * scale
        off += 10.0**-DECIMALS
    joined = csr_array(hstack(parts, format="csr"), dtype=np.float32)
    return joined, off + (2 * np.diff(joined.indptr) + 8) * UNIT * 1.01


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a sparse array."""

    places: Indices
    values: Floats

    @classmethod
    def of(cls, matrix: csr_array, row: int) -> Row:
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        return cls(matrix.indices[part], matrix.data[part])


def find_row_candidates(joined: Joined, found: Row, asked: Row, k: int, limit: float, off: float) -> Indices:
    """The candidates of one query: `found` are sums of rare terms, `asked` the weights of common ones."""
    places, sums = found.places, found.values
    least = kth_largest(sums, k) - limit - 2 * off
    if least > 0:
        near = sums >= least
        places, sums = places[near], sums[near]
    for term, weight in zip(asked.places.tolist(), asked.values.tolist(), strict=True):
        sums = sums + np.float32(weight) * joined.light[term, places]
    least = kth_largest(sums, k) - 2 * off
    if limit >= least and len(asked.places):
        whole = asked.values @ joined.light[asked.places]
        whole[found.places] += found.values
        least = max(least, kth_largest(whole, k) - 2 * off) if least <= 0 else least
        return np.flatnonzero((whole >= least) & (whole > 0))
    return np.sort(places[sums >= least]).astype(np.int64)


def kth_largest(values: Floats, k: int) -> float:
    """0 where there are fewer than k."""
    if len(values) < k:
        return 0.0
    return float(np.partition(values, len(values) - k)[len(values) - k])
