"""The k best snippets of each query by all encoders together, exactly.

A first pass finds for each query every snippet that could be among the k best: of vectors alone in blocks,
as `retrieval.search` proves, with lexical scores in float32 with room for its rounding. A second pass scores
these few in float64. Ranks therefore depend neither on formats and block sizes nor on the last bit of a BLAS
library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from retrieval.encoders.base import (
    DenseEncoder,
    Doubles,
    Encoder,
    Floats,
    Kind,
    LexicalIndex,
    LexicalScores,
    Progress,
)
from retrieval.fusion import Fusion, scaled, weights
from retrieval.product import UNIT, Format, Indices
from retrieval.search import Joined, Rows, candidates, pieces
from retrieval.threads import spread

DECIMALS = 12
"""Cosines and means are rounded to this many decimals, far above float64's rounding: nearer ones are ties."""

SNIPPETS_A_BLOCK = 4_096
PAIRS_A_READ = 4_096
QUERIES_A_BLOCK = 4_096
QUERIES_AT_ONCE = 64

Vectorise: TypeAlias = Callable[[DenseEncoder, Sequence[str], Kind, Progress | None], Rows]
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

    def entering(self, query: int, raw: Doubles) -> Doubles:
        """What enters the mean of some of a query's cosines."""
        return raw if self.largest is None else scaled(raw, float(self.largest[query]))

    def weights(self, queries: slice) -> Floats:
        """What the cosines of some queries are multiplied by, shape (q, 1)."""
        largest = np.ones(len(self.queries[queries])) if self.largest is None else self.largest[queries]
        return np.asarray(weights(largest)[:, None], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Terms:
    """A lexical encoder's index of the snippets, and the queries' texts."""

    name: str
    queries: Sequence[str]
    index: LexicalIndex


@dataclass(frozen=True, slots=True)
class Lexical:
    """A lexical encoder's scores of a block of queries, and how they enter the mean."""

    scores: LexicalScores
    fusion: Fusion

    def entering(self, row: int, snippets: Indices | slice = slice(None)) -> Doubles:
        """The entering scores of one query of the block with some snippets."""
        if self.fusion is Fusion.MEAN:
            return self.scores.share(row, snippets)
        return scaled(self.scores.raw[row, snippets], float(np.abs(self.scores.raw[row]).max(initial=0.0)))


@dataclass(frozen=True)
class Options:
    """How `mine` and `fuse` work. `format_` None: the faster one of this machine, with the same result.

    `memory_mb` bounds the block of scores where lexical encoders take part, not the encoders.
    """

    fusion: Fusion = Fusion.MEAN
    memory_mb: int = 1024
    format_: Format | None = None
    progress: StageProgress | None = field(default=None, compare=False)

    def report(self, stage: str) -> Progress:
        """Progress of one stage."""

        def report(done: int, total: int) -> None:
            if self.progress is not None:
                self.progress(stage, done, total)

        return report


def mine(
    queries: Sequence[str],
    snippets: Sequence[str],
    encoders: Sequence[Encoder],
    k: int,
    *,
    vectorise: Vectorise | None = None,
    fusion: Fusion = Fusion.MEAN,
    memory_mb: int = 1024,
    progress: StageProgress | None = None,
) -> list[list[Hit]]:
    """Return for each query its k best snippets by the mean over encoders, best first.

    Of snippets with one stripped text only the first takes part: what fetching more and cutting after removal
    of duplicates would give. Equal means keep ascending index. `vectorise` replaces encoding in memory (a
    vector store's `rows`). Raises ValueError for k < 1, no encoder, or an encoder named twice.
    """
    _check(encoders, k)
    kept = first_of_each(snippets)
    if not queries or not len(kept):
        return [[] for _ in queries]
    options = Options(fusion, memory_mb, progress=progress)
    signals = prepare(queries, [snippets[i] for i in kept], encoders, vectorise, options)
    return [
        [Hit(int(kept[hit.index]), hit.score, hit.entering, hit.raw) for hit in hits]
        for hits in fuse(signals, len(queries), len(kept), k, options)
    ]


def prepare(
    queries: Sequence[str],
    snippets: Sequence[str],
    encoders: Sequence[Encoder],
    vectorise: Vectorise | None = None,
    options: Options | None = None,
) -> list[Cosines | Terms]:
    """Encode queries and snippets with every encoder, in the encoders' order."""
    make: Vectorise = vectorise or encode_in_memory
    signals: list[Cosines | Terms] = []
    for encoder in encoders:
        report = (options or Options()).report(encoder.name)
        if isinstance(encoder, DenseEncoder):
            rows = make(encoder, snippets, "snippet", report)
            signals.append(
                Cosines(encoder.name, make(encoder, queries, "query", None)[0 : len(queries)], rows)
            )
        else:
            signals.append(Terms(encoder.name, queries, encoder.fit(snippets)))
            report(len(snippets), len(snippets))
    return signals


def encode_in_memory(
    encoder: DenseEncoder, texts: Sequence[str], kind: Kind, progress: Progress | None = None
) -> Floats:
    """Encode without a store."""
    return encoder.encode(texts, kind, progress)


def fuse(
    signals: Sequence[Cosines | Terms],
    queries: int,
    snippets: int,
    k: int,
    options: Options | None = None,
) -> Iterator[list[Hit]]:
    """Yield the hits of query 0, 1, ...: the k best of `snippets` by the mean of what enters."""
    options, k = options or Options(), min(k, snippets)
    if options.fusion is Fusion.MAXABS:
        signals = [with_largest(one, options) if isinstance(one, Cosines) else one for one in signals]
    dense = [signal for signal in signals if isinstance(signal, Cosines)]
    report = options.report("search")
    if len(dense) == len(signals):
        for hits in spread(partial(together, signals, k), a_few(best_by_vectors(dense, k, options))):
            yield from hits
        report(queries, queries)
        return
    step = _queries_a_block(signals, snippets, options.memory_mb)
    for start in range(0, queries, step):
        block = range(start, min(start + step, queries))
        lexical = {
            s.name: Lexical(s.index.scores(s.queries[start : block.stop]), options.fusion)
            for s in signals
            if isinstance(s, Terms)
        }
        found = _above_kth(_means(dense, lexical, block, snippets), _off(dense, block), k)
        yield from rescored(signals, lexical, block, found, k)
        report(block.stop, queries)


def a_few(found: Sequence[Indices]) -> Iterator[tuple[int, Sequence[Indices]]]:
    """Lists of some queries at a time, each with the number of its first query."""
    for start in range(0, len(found), QUERIES_AT_ONCE):
        yield start, found[start : start + QUERIES_AT_ONCE]


def together(
    signals: Sequence[Cosines | Terms], k: int, some: tuple[int, Sequence[Indices]]
) -> list[list[Hit]]:
    """The hits of a few queries, from the number of the first one on."""
    start, found = some
    return list(rescored(signals, {}, range(start, start + len(found)), found, k))


def with_largest(signal: Cosines, options: Options) -> Cosines:
    """`signal` with each query's largest absolute cosine, exactly: of the query or of its opposite."""
    above = largest_of(signal, np.full(len(signal.queries), -np.inf), options)
    opposite = Cosines(signal.name, -signal.queries, signal.snippets)
    return Cosines(signal.name, signal.queries, signal.snippets, largest_of(opposite, above, options))


def largest_of(signal: Cosines, least: Doubles, options: Options) -> Doubles:
    """The larger of each query's largest cosine and `least`, shape (q,)."""
    count, largest = len(signal.snippets), least.copy()
    report = options.report(f"largest of {signal.name}")
    found = candidates(
        signal.queries,
        Joined([signal.snippets]),
        1,
        format_=options.format_,
        least=least,
        scanned=report,
    )
    crowded = [query for query, one in enumerate(found) if one is None]
    sure = [(query, one) for query, one in enumerate(found) if one is not None and len(one)]
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
    found = candidates(
        queries,
        Joined([signal.snippets for signal in dense]),
        k,
        format_=options.format_,
        scanned=lambda done, snippets: report(done * (total - 1) // snippets, total),
    )
    crowded = np.array([query for query, one in enumerate(found) if one is None], dtype=np.int64)
    for start in range(0, len(crowded), QUERIES_AT_ONCE):
        some = crowded[start : start + QUERIES_AT_ONCE]
        for query, one in zip(some, best_in_doubles(dense, some, k), strict=True):
            found[query] = one
    return [one for one in found if one is not None]


def best_in_doubles(dense: Sequence[Cosines], queries: Indices, k: int) -> Indices:
    """The k best snippets of some queries by a full pass in float64, shape (len(queries), k)."""
    scores, indices = np.empty((len(queries), 0)), np.empty((len(queries), 0), dtype=np.int64)
    for start in range(0, len(dense[0].snippets), SNIPPETS_A_BLOCK):
        stop = min(start + SNIPPETS_A_BLOCK, len(dense[0].snippets))
        means = np.round(np.mean([doubles(one, queries, start, stop) for one in dense], axis=0), DECIMALS)
        scores = np.hstack([scores, means])
        indices = np.hstack([indices, np.broadcast_to(np.arange(start, stop), means.shape)])
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        scores, indices = np.take_along_axis(scores, best, 1), np.take_along_axis(indices, best, 1)
    return indices


def doubles(signal: Cosines, queries: Indices, start: int, stop: int) -> Doubles:
    """What enters of some queries with the snippets from `start` to `stop`, in float64."""
    vectors = signal.snippets[start:stop].astype(np.float64)
    raw = np.round(signal.queries[queries].astype(np.float64) @ vectors.T, DECIMALS)
    return np.array([signal.entering(query, row) for query, row in zip(queries, raw, strict=True)])


def _means(dense: Sequence[Cosines], lexical: Mapping[str, Lexical], block: range, snippets: int) -> Floats:
    """Float32 means of a block of queries with every snippet, shape (len(block), snippets)."""
    total = np.zeros((len(block), snippets), dtype=np.float32)
    part = slice(block.start, block.stop)
    for signal in dense:
        queries = signal.queries[part] * signal.weights(part)
        for start in range(0, snippets, SNIPPETS_A_BLOCK):
            for first, vectors in pieces(signal.snippets, start, min(start + SNIPPETS_A_BLOCK, snippets)):
                total[:, first : first + len(vectors)] += queries @ vectors.T
    for scores in lexical.values():
        for row in range(len(block)):
            total[row] += scores.entering(row).astype(np.float32)
    return total / np.float32(len(dense) + len(lexical))


def _off(dense: Sequence[Cosines], block: range) -> Doubles:
    """How far a mean of `_means` can be off, shape (len(block),).

    A float32 sum of d products of unit vectors errs by at most d + 2 units of 2^-24, whatever its order; each
    number that enters is rounded once, and so are the sum after each of them and the mean.
    """
    part = slice(block.start, block.stop)
    heights = [signal.weights(part)[:, 0].astype(np.float64) for signal in dense]
    terms = [signal.queries.shape[1] + 8 for signal in dense]
    summed = sum((height * n for height, n in zip(heights, terms, strict=True)), np.full(len(block), 16.0))
    return summed * UNIT * 1.01


def _above_kth(means: Floats, off: Doubles, k: int) -> list[Indices]:
    place = means.shape[1] - k
    ordered = np.partition(means, place, axis=1)
    least = ordered[:, place].astype(np.float64) - 2 * off
    return [np.flatnonzero(means[row] >= least[row]) for row in range(len(means))]


def rescored(
    signals: Sequence[Cosines | Terms],
    lexical: Mapping[str, Lexical],
    block: range,
    found: Sequence[Indices],
    k: int,
) -> Iterator[list[Hit]]:
    """Score the candidates of a block of queries in float64 and yield the k best of each."""
    counts = [len(one) for one in found]
    owners, flat = np.repeat(np.array(block, dtype=np.int64), counts), np.concatenate(found)
    cosines = {s.name: s.raw(owners, flat) for s in signals if isinstance(s, Cosines)}
    ends = np.cumsum(counts)
    for row, query in enumerate(block):
        entering, raw = dict[str, Doubles](), dict[str, Doubles]()
        for signal in signals:
            if isinstance(signal, Cosines):
                raw[signal.name] = cosines[signal.name][ends[row] - counts[row] : ends[row]]
                entering[signal.name] = signal.entering(query, raw[signal.name])
            else:
                raw[signal.name] = lexical[signal.name].scores.raw[row, found[row]]
                entering[signal.name] = lexical[signal.name].entering(row, found[row])
        yield _best(found[row], entering, raw, k)


def _best(indices: Indices, entering: Mapping[str, Doubles], raw: Mapping[str, Doubles], k: int) -> list[Hit]:
    """The k best of ascending `indices`."""
    means: Doubles = np.round(np.array(list(entering.values())).mean(axis=0), DECIMALS)
    best = np.argsort(-means, kind="stable")[:k]
    enters = zip(*(values[best].tolist() for values in entering.values()), strict=True)
    raws = zip(*(values[best].tolist() for values in raw.values()), strict=True)
    rows = zip(indices[best].tolist(), means[best].tolist(), enters, raws, strict=True)
    return [
        Hit(index, mean, dict(zip(entering, entered, strict=True)), dict(zip(raw, plain, strict=True)))
        for index, mean, entered, plain in rows
    ]


def _queries_a_block(signals: Sequence[Cosines | Terms], snippets: int, memory_mb: int) -> int:
    lexical = sum(isinstance(signal, Terms) for signal in signals)
    bytes_a_query = snippets * (8 + 24 * lexical)
    return max(1, min(QUERIES_A_BLOCK, memory_mb * 2**20 // bytes_a_query))


def first_of_each(snippets: Sequence[str]) -> Indices:
    """The indices of the snippets before which none has the same stripped text."""
    first: dict[str, int] = {}
    for index, text in enumerate(snippets):
        first.setdefault(text.strip(), index)
    return np.fromiter(first.values(), np.int64, len(first))


def _check(encoders: Sequence[Encoder], k: int) -> None:
    names = [encoder.name for encoder in encoders]
    if k < 1:
        raise ValueError(f"k is the number of snippets a query and must be at least 1, not {k}")
    if not names or len(set(names)) < len(names):
        raise ValueError(f"name at least one encoder, each once; got {', '.join(names) or 'none'}")
