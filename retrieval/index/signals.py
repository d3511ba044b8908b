"""What enters the mean of a query and a snippet: cosines of vectors, and scores of terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol, TypeAlias

import numpy as np

from retrieval.encoders.base import Doubles, Floats, LexicalIndex, LexicalScores, Progress, shares_of
from retrieval.encoders.lexical.frequencies import Frequencies
from retrieval.fusion import Fusion, invert_largest_scores, scale_scores
from retrieval.index.product import Format, Indices
from retrieval.index.search import Rows

DECIMALS = 12
"""Cosines and means are rounded to this many decimals, far above float64's rounding: nearer ones are ties."""

PAIRS_A_READ = 4_096

StageProgress: TypeAlias = Callable[[str, int, int], None]
"""Called with (encoder name or "search", done, total); raising inside it stops the mining."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One snippet found for one query.

    `index` is the snippet's place in the collection, `score` the mean of `entering`, which holds for each
    encoder's name the number in [-1, 1] that entered the mean; `raw` holds the encoder's own score.
    """

    index: int
    score: float
    entering: Mapping[str, float]
    raw: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Cosines:
    """A dense encoder's vectors of the queries, shape (q, d), and of the snippets, n rows of d.

    `largest`, shape (q,), is what a query's cosines are divided by; None for nothing.
    """

    name: str
    queries: Floats
    snippets: Rows
    largest: Doubles | None = None

    def raw(self, queries: Indices, snippets: Indices) -> Doubles:
        """Cosines of pairs in float64, shape (pairs,); pairs of one query lie together."""
        found = np.empty(len(queries))
        for start in range(0, len(queries), PAIRS_A_READ):
            part = slice(start, start + PAIRS_A_READ)
            vectors, owners = self.snippets[snippets[part]], queries[part]
            edges = [0, *(np.flatnonzero(np.diff(owners)) + 1).tolist(), len(owners)]
            for first, last in pairwise(edges):
                query = self.queries[owners[first]].astype(np.float64)
                found[start + first : start + last] = vectors[first:last].astype(np.float64) @ query
        return np.round(found, DECIMALS)

    def entering(self, queries: Indices, raw: Doubles) -> Doubles:
        """What enters the mean of the cosines `raw`; whose they are has their shape, or one like it."""
        return raw if self.largest is None else scale_scores(raw, self.largest[queries])

    def weights(self, queries: slice) -> Floats:
        """What the cosines of some queries are multiplied by, shape (q, 1)."""
        largest = np.ones(len(self.queries[queries])) if self.largest is None else self.largest[queries]
        return np.asarray(invert_largest_scores(largest)[:, None], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Terms:
    """A lexical encoder's index of the snippets, and the queries' texts.

    `largest`, shape (q,), is what `maxabs` divides by; None for the largest of these snippets.
    """

    name: str
    queries: Sequence[str]
    index: LexicalIndex
    largest: Doubles | None = None


class PairScores(Protocol):
    """A lexical encoder's scores of a block of queries with any snippets, and how they enter the mean."""

    def raw(self, rows: Indices, snippets: Indices) -> Doubles:
        """The encoder's own scores of pairs; `rows` are the queries' places in the block."""

    def entering(self, rows: Indices, raw: Doubles) -> Doubles:
        """What enters the mean of the scores `raw` of pairs."""


@dataclass(frozen=True, slots=True)
class Lexical:
    """The scores of a block of queries with all snippets, in a table."""

    scores: LexicalScores
    fusion: Fusion
    largest: Doubles | None = None

    def raw(self, rows: Indices, snippets: Indices) -> Doubles:
        found: Doubles = self.scores.raw[rows, snippets]
        return found

    def entering(self, rows: Indices, raw: Doubles) -> Doubles:
        if self.fusion is Fusion.MEAN:
            return shares_of(raw, self.scores.bound[rows])
        largest = np.abs(self.scores.raw).max(axis=1, initial=0.0) if self.largest is None else self.largest
        return scale_scores(raw, largest[rows])

    def entering_of(self, row: int) -> Doubles:
        """What enters of one query with every snippet."""
        raw: Doubles = self.scores.raw[row]
        if self.fusion is Fusion.MEAN:
            return self.scores.share(row)
        largest = np.abs(raw).max(initial=0.0) if self.largest is None else self.largest[row]
        return scale_scores(raw, float(largest))


@dataclass(frozen=True)
class Options:
    """How `mine` and `fuse` work. `format_` None: the faster one of this machine, with the same result.

    `memory_mb` bounds the block of scores where lexical encoders take part, not the encoders. Of a part of a
    collection, by encoder's name: `frequencies` of all of it, and each query's `largest` score in all of it.
    `ties`, shape (snippets,), says who comes first among equals; None for the order of the snippets.
    """

    fusion: Fusion = Fusion.MEAN
    memory_mb: int = 1024
    format_: Format | None = None
    progress: StageProgress | None = field(default=None, compare=False)
    frequencies: Mapping[str, Sequence[Frequencies]] = field(default_factory=dict, compare=False)
    largest: Mapping[str, Doubles] = field(default_factory=dict, compare=False)
    ties: Indices | None = field(default=None, compare=False)

    def order_of(self, snippets: Indices) -> Indices:
        """What decides between snippets of equal means, the lower first."""
        return snippets if self.ties is None else self.ties[snippets]

    def report(self, stage: str) -> Progress:
        """Progress of one stage."""

        def report(done: int, total: int) -> None:
            if self.progress is not None:
                self.progress(stage, done, total)

        return report
