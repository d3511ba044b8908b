"""The k best snippets of each query by all encoders together, exactly.

A first pass finds for each query every snippet that could be among the k best: of vectors alone in blocks,
as `index.search` proves, with lexical scores in float32 with room for its rounding. A second pass scores
these few in float64. Ranks therefore depend neither on formats and block sizes nor on the last bit of a BLAS
library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import TypeAlias

import numpy as np

from retrieval.encoders.base import DenseEncoder, Doubles, Encoder, Floats, Kind, Progress, encode_texts
from retrieval.encoders.lexical.cells import keep_numbered_terms
from retrieval.fusion import Fusion
from retrieval.index.all_scores import (
    above_kth,
    bound_mean_errors,
    compute_mean_scores,
    queries_a_block,
)
from retrieval.index.product import Indices
from retrieval.index.search import Rows
from retrieval.index.second_pass import rescore_candidates
from retrieval.index.signals import DECIMALS, Cosines, Hit, Lexical, Options, StageProgress, Terms
from retrieval.index.ties import rank_by_hash
from retrieval.index.vectors_alone import QUERIES_AT_ONCE, best_by_vectors, largest_cosines, with_largest
from retrieval.threads import spread_over_cores

__all__ = [
    "DECIMALS",
    "Cosines",
    "Hit",
    "Options",
    "Prepared",
    "StageProgress",
    "Terms",
    "Vectorise",
    "a_few",
    "encode_distinct_snippets",
    "encode_in_memory",
    "encode_signals",
    "find_block_hits",
    "first_of_each",
    "fuse_signals",
    "mine_best_snippets",
]

Vectorise: TypeAlias = Callable[[DenseEncoder, Sequence[str], Kind, Progress | None], Rows]


def mine_best_snippets(
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
    of duplicates would give. Equal means come by the texts' hashes. Encoders of terms alone find nothing that
    shares no term with the query. `vectorise` replaces encoding in memory (a
    vector store's `rows`). Raises ValueError for k < 1, no encoder, or an encoder named twice.
    """
    options = Options(fusion, memory_mb, progress=progress)
    return list(encode_distinct_snippets(queries, snippets, encoders, vectorise, options).best(k))


@dataclass(frozen=True, slots=True)
class Prepared:
    """Queries and snippets as every encoder sees them; `kept` are the places of the snippets that differ."""

    queries: int
    kept: Indices
    signals: Sequence[Cosines | Terms]
    options: Options

    def best(self, k: int) -> Iterator[list[Hit]]:
        """Yield the k best of each query by the mean over encoders. Raises ValueError for k < 1."""
        if k < 1:
            raise ValueError(f"k is the number of functions a query and must be at least 1, not {k}")
        for hits in fuse_signals(self.signals, self.queries, len(self.kept), k, self.options):
            yield [Hit(int(self.kept[hit.index]), hit.score, hit.entering, hit.raw) for hit in hits]

    def largest(self) -> dict[str, Doubles]:
        """By encoder each query's largest absolute score, shape (q,): what `maxabs` divides by."""
        from retrieval.index.terms_alone import largest_term_scores  # loads SciPy

        return {
            signal.name: largest_term_scores(signal)
            if isinstance(signal, Terms)
            else largest_cosines(signal, self.options)
            for signal in self.signals
        }

    def alone(self, drawn: Indices, k: int) -> Iterator[list[Hit]]:
        """Yield the k best of some queries by the first encoder alone, then by the second, and so on."""
        for signal in self.signals:
            own = replace(self, queries=len(drawn), signals=[of_some(signal, drawn)])
            yield from own.best(k)


def of_some(signal: Cosines | Terms, drawn: Indices) -> Cosines | Terms:
    """A signal of some of the queries."""
    largest = None if signal.largest is None else signal.largest[drawn]
    if isinstance(signal, Cosines):
        return replace(signal, queries=signal.queries[drawn], largest=largest)
    asked = [signal.queries[number] for number in drawn.tolist()]
    return replace(signal, queries=asked, largest=largest)


def encode_distinct_snippets(
    queries: Sequence[str],
    snippets: Sequence[str],
    encoders: Sequence[Encoder],
    vectorise: Vectorise | None = None,
    options: Options | None = None,
) -> Prepared:
    """Encode queries and the snippets that differ; nothing where there are none of either.

    Raises ValueError for no encoder, or one named twice.
    """
    names = [encoder.name for encoder in encoders]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"name at least one encoder, each once; got {', '.join(names) or 'none'}")
    kept = first_of_each(snippets)
    texts = [snippets[i] for i in kept]
    options = replace(options or Options(), ties=rank_by_hash(texts))
    some = bool(queries) and bool(texts)
    signals = encode_signals(queries, texts, encoders, vectorise, options) if some else []
    return Prepared(len(queries), kept, signals, options)


def encode_signals(
    queries: Sequence[str],
    snippets: Sequence[str],
    encoders: Sequence[Encoder],
    vectorise: Vectorise | None = None,
    options: Options | None = None,
) -> list[Cosines | Terms]:
    """Encode queries and snippets with every encoder, in the encoders' order."""
    make, options = vectorise or encode_in_memory, options or Options()
    signals: list[Cosines | Terms] = []
    with keep_numbered_terms() as forget:
        for encoder, following in zip_longest(encoders, encoders[1:]):
            report, largest = options.report(encoder.name), options.largest.get(encoder.name)
            if isinstance(encoder, DenseEncoder):
                rows = make(encoder, snippets, "snippet", report)
                asked = make(encoder, queries, "query", None)[0 : len(queries)]
                signals.append(Cosines(encoder.name, asked, rows, largest))
                continue
            index = encoder.fit(snippets, options.frequencies.get(encoder.name, ()))
            signals.append(Terms(encoder.name, queries, index, largest))
            report(len(snippets), len(snippets))
            if following is None or isinstance(following, DenseEncoder):
                forget()
    return signals


def encode_in_memory(
    encoder: DenseEncoder, texts: Sequence[str], kind: Kind, progress: Progress | None = None
) -> Floats:
    """Encode without a store. Raises NoDirection."""
    return encode_texts(encoder, texts, kind, progress)


def fuse_signals(
    signals: Sequence[Cosines | Terms],
    queries: int,
    snippets: int,
    k: int,
    options: Options | None = None,
) -> Iterator[list[Hit]]:
    """Yield the hits of query 0, 1, ...: the k best of `snippets` by the mean of what enters.

    Encoders of terms alone find nothing that shares no term with the query.
    """
    from retrieval.index.terms_alone import TermSearch, with_largest_term_scores  # loads SciPy

    options, k = options or Options(), min(k, snippets)
    if not signals:
        yield from ([] for _ in range(queries))
        return
    if options.fusion is Fusion.MAXABS:
        signals = [
            with_largest(signal, options) if isinstance(signal, Cosines) else with_largest_term_scores(signal)
            for signal in signals
        ]
    dense = [signal for signal in signals if isinstance(signal, Cosines)]
    report = options.report("search")
    if len(dense) == len(signals):
        for hits in spread_over_cores(
            partial(find_block_hits, signals, k, options), a_few(best_by_vectors(dense, k, options))
        ):
            yield from hits
        report(queries, queries)
        return
    if not dense:
        terms = [signal for signal in signals if isinstance(signal, Terms)]
        for block, candidates, scores in TermSearch(terms, options.fusion).blocks(k):
            yield from rescore_candidates(signals, scores, block, candidates, k, options)
            report(block.stop, queries)
        return
    yield from fuse_vectors_with_terms(signals, queries, snippets, k, options)


def fuse_vectors_with_terms(
    signals: Sequence[Cosines | Terms], queries: int, snippets: int, k: int, options: Options
) -> Iterator[list[Hit]]:
    """As `fuse_signals`, of vectors beside terms: a block of queries with all snippets at a time."""
    dense, report = [signal for signal in signals if isinstance(signal, Cosines)], options.report("search")
    step = queries_a_block(signals, snippets, options.memory_mb)
    for start in range(0, queries, step):
        block = range(start, min(start + step, queries))
        lexical = {
            s.name: score_lexical_block(s, block, options.fusion) for s in signals if isinstance(s, Terms)
        }
        found = above_kth(
            compute_mean_scores(dense, lexical, block, snippets), bound_mean_errors(dense, block), k
        )
        yield from rescore_candidates(signals, lexical, block, found, k, options)
        report(block.stop, queries)


def score_lexical_block(signal: Terms, block: range, fusion: Fusion) -> Lexical:
    """The scores of a block of queries with every snippet."""
    part = slice(block.start, block.stop)
    largest = None if signal.largest is None else signal.largest[part]
    return Lexical(signal.index.scores(signal.queries[part]), fusion, largest)


def a_few(found: Sequence[Indices]) -> Iterator[tuple[int, Sequence[Indices]]]:
    """Lists of some queries at a time, each with the number of its first query."""
    for start in range(0, len(found), QUERIES_AT_ONCE):
        yield start, found[start : start + QUERIES_AT_ONCE]


def find_block_hits(
    signals: Sequence[Cosines | Terms], k: int, options: Options, some: tuple[int, Sequence[Indices]]
) -> list[list[Hit]]:
    """The hits of a few queries, from the number of the first one on."""
    start, found = some
    return list(rescore_candidates(signals, {}, range(start, start + len(found)), found, k, options))


def first_of_each(snippets: Sequence[str]) -> Indices:
    """The indices of the snippets before which none has the same stripped text."""
    first: dict[str, int] = {}
    for index, text in enumerate(snippets):
        first.setdefault(text.strip(), index)
    return np.fromiter(first.values(), np.int64, len(first))
