"""Exact top-k over whole collections: the one door to faiss, and the mean over encoders.

A first pass in float32 finds, for each query, every snippet that could be among the k best; a second pass
scores these few in float64. Ranks therefore depend neither on block sizes nor on a BLAS library's last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from retrieval.encoders.base import (
    DECIMALS,
    DenseEncoder,
    Doubles,
    Encoder,
    Floats,
    Kind,
    LexicalIndex,
    LexicalScores,
    Progress,
)

Indices: TypeAlias = npt.NDArray[np.int64]

MARGIN = 1e-5
"""More than any float32 inner product of two unit vectors errs at 1,792 dimensions."""

SNIPPETS_A_BLOCK = 65_536
QUERIES_A_BLOCK = 4_096


class StoredRows(Protocol):
    """Vectors of shape (n, d) that are read in parts from somewhere slower than memory."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: slice | Indices) -> Floats: ...


Rows: TypeAlias = Floats | StoredRows
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
    """A dense encoder's vectors of the queries, shape (q, d), and of the snippets, n rows of d."""

    name: str
    queries: Floats
    snippets: Rows

    def exact(self, query: int, candidates: Indices) -> Doubles:
        """Cosines of one query with some snippets in float64, shape (len(candidates),)."""
        vectors = self.snippets[candidates].astype(np.float64)
        cosines: Doubles = vectors @ self.queries[query].astype(np.float64)
        return np.round(cosines, DECIMALS)


@dataclass(frozen=True, slots=True)
class Terms:
    """A lexical encoder's index of the snippets, and the queries' texts."""

    name: str
    queries: Sequence[str]
    index: LexicalIndex


def nearest(queries: Floats, snippets: Rows, k: int) -> tuple[Floats, Indices]:
    """Return the k largest inner products of each query and the snippets' indices, both of shape (q, k).

    Exact, in blocks: memory is a few times q x k plus one block of snippets. Rows descend; the order of
    equal scores is not defined. `k` must not exceed the number of snippets.
    """
    import faiss

    scores = np.full((len(queries), 0), -np.inf, dtype=np.float32)
    indices = np.zeros((len(queries), 0), dtype=np.int64)
    for start, block in _blocks(snippets):
        found, places = faiss.knn(queries, block, min(k, len(block)), metric=faiss.METRIC_INNER_PRODUCT)
        scores = np.hstack([scores, found])
        indices = np.hstack([indices, places + start])
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        scores, indices = np.take_along_axis(scores, best, 1), np.take_along_axis(indices, best, 1)
    return scores, indices


def mine(
    queries: Sequence[str],
    snippets: Sequence[str],
    encoders: Sequence[Encoder],
    k: int,
    *,
    vectorise: Vectorise | None = None,
    memory_mb: int = 1024,
    progress: StageProgress | None = None,
) -> list[list[Hit]]:
    """Return for each query its k best snippets by the mean over encoders, best first.

    Of snippets with one stripped text only the first takes part. Equal means keep ascending index.
    `vectorise` replaces encoding in memory (a vector store's `rows`). `memory_mb` bounds the block of
    scores, not the encoders. Raises ValueError for k < 1, no encoder, or an encoder named twice.
    CoSQA+ section III: candidates are the top k by the average cosine of three models.
    """
    _check(encoders, k)
    kept = _first_of_each(snippets)
    if not queries or not len(kept):
        return [[] for _ in queries]
    signals = prepare(queries, [snippets[i] for i in kept], encoders, vectorise, progress)
    return [
        [Hit(int(kept[hit.index]), hit.score, hit.entering, hit.raw) for hit in hits]
        for hits in fuse(signals, len(queries), len(kept), k, memory_mb=memory_mb, progress=progress)
    ]


def prepare(
    queries: Sequence[str],
    snippets: Sequence[str],
    encoders: Sequence[Encoder],
    vectorise: Vectorise | None = None,
    progress: StageProgress | None = None,
) -> list[Cosines | Terms]:
    """Encode queries and snippets with every encoder, in the encoders' order."""
    make: Vectorise = vectorise or encode_in_memory
    signals: list[Cosines | Terms] = []
    for encoder in encoders:
        report = _report_as(encoder.name, progress)
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
    *,
    memory_mb: int = 1024,
    progress: StageProgress | None = None,
) -> Iterator[list[Hit]]:
    """Yield the hits of query 0, 1, ...: the k best of `snippets` by the mean of the signals' scores."""
    report = _report_as("search", progress)
    dense = [signal for signal in signals if isinstance(signal, Cosines)]
    step = QUERIES_A_BLOCK if len(dense) == len(signals) else _queries_a_block(signals, snippets, memory_mb)
    for start in range(0, queries, step):
        block = range(start, min(start + step, queries))
        lexical = {
            s.name: s.index.scores(s.queries[start : block.stop]) for s in signals if isinstance(s, Terms)
        }
        candidates = _candidates(dense, lexical, block, snippets, min(k, snippets))
        for row, query in enumerate(block):
            yield _rescore(signals, lexical, query, row, candidates[row], k)
        report(block.stop, queries)


def _candidates(
    dense: Sequence[Cosines], lexical: Mapping[str, LexicalScores], block: range, snippets: int, k: int
) -> list[Indices]:
    """For each query of the block a superset of its k best snippets."""
    if lexical:
        return _above_kth(_means(dense, lexical, block, snippets), k)
    share = np.float32(1 / np.sqrt(len(dense)))
    queries = np.hstack([signal.queries[block.start : block.stop] for signal in dense]) * share
    fetch = min(k + max(k // 2, 32), snippets)
    scores, indices = nearest(queries, _Joined([signal.snippets for signal in dense], share), fetch)
    found = [row[values >= values[k - 1] - MARGIN] for row, values in zip(indices, scores, strict=True)]
    for row, candidates in enumerate(found):
        if len(candidates) == fetch < snippets:
            one = range(block.start + row, block.start + row + 1)
            found[row] = _above_kth(_means(dense, {}, one, snippets), k)[0]
    return found


def _means(
    dense: Sequence[Cosines], lexical: Mapping[str, LexicalScores], block: range, snippets: int
) -> Floats:
    """Float32 means of a block of queries with every snippet, shape (len(block), snippets)."""
    total = np.zeros((len(block), snippets), dtype=np.float32)
    for signal in dense:
        queries = signal.queries[block.start : block.stop]
        for start, vectors in _blocks(signal.snippets):
            total[:, start : start + len(vectors)] += queries @ vectors.T
    for scores in lexical.values():
        total += scores.entering.astype(np.float32)
    return total / np.float32(len(dense) + len(lexical))


def _above_kth(means: Floats, k: int) -> list[Indices]:
    place = means.shape[1] - k
    ordered = np.partition(means, place, axis=1)
    return [np.flatnonzero(means[row] >= float(ordered[row, place]) - MARGIN) for row in range(len(means))]


def _rescore(
    signals: Sequence[Cosines | Terms],
    lexical: Mapping[str, LexicalScores],
    query: int,
    row: int,
    candidates: Indices,
    k: int,
) -> list[Hit]:
    """Score one query's candidates in float64 and keep the k best."""
    candidates = np.sort(candidates)
    entering: dict[str, Doubles] = {}
    raw: dict[str, Doubles] = {}
    for signal in signals:
        if isinstance(signal, Cosines):
            entering[signal.name] = raw[signal.name] = signal.exact(query, candidates)
        else:
            scores = lexical[signal.name]
            raw[signal.name] = scores.raw[row, candidates]
            entering[signal.name] = scores.share(row, candidates)
    means: Doubles = np.round(np.array(list(entering.values())).mean(axis=0), DECIMALS)
    order = np.argsort(-means, kind="stable")[:k]
    return [
        Hit(
            int(candidates[i]),
            float(means[i]),
            {name: float(values[i]) for name, values in entering.items()},
            {name: float(values[i]) for name, values in raw.items()},
        )
        for i in order
    ]


@dataclass(frozen=True, slots=True)
class _Joined:
    """Several encoders' rows side by side, scaled: one inner product is then the mean of their cosines."""

    parts: Sequence[Rows]
    share: np.float32

    def __len__(self) -> int:
        return len(self.parts[0])

    def __getitem__(self, rows: slice | Indices) -> Floats:
        return np.hstack([part[rows] for part in self.parts]) * self.share


def _blocks(rows: Rows) -> Iterator[tuple[int, Floats]]:
    for start in range(0, len(rows), SNIPPETS_A_BLOCK):
        yield start, np.ascontiguousarray(rows[start : start + SNIPPETS_A_BLOCK])


def _queries_a_block(signals: Sequence[Cosines | Terms], snippets: int, memory_mb: int) -> int:
    lexical = sum(isinstance(signal, Terms) for signal in signals)
    bytes_a_query = snippets * (8 + 24 * lexical)
    return max(1, min(QUERIES_A_BLOCK, memory_mb * 2**20 // bytes_a_query))


def _first_of_each(snippets: Sequence[str]) -> Indices:
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


def _report_as(stage: str, progress: StageProgress | None) -> Progress:
    def report(done: int, total: int) -> None:
        if progress is not None:
            progress(stage, done, total)

    return report
