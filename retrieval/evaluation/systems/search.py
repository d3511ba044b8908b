"""Systems by name search a benchmark: bag of words, BM25, encoders, or a mean of several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from retrieval import encoders
from retrieval.encoders.base import Encoder
from retrieval.encoders.rerankers import Reranker, find_reranker
from retrieval.evaluation.content import Content, query_members, snippet_members
from retrieval.evaluation.systems.names import encoders_of, split_second_stage
from retrieval.filters import TextOption, extract_searched_text
from retrieval.index import (
    DECIMALS,
    Cosines,
    Options,
    StageProgress,
    Terms,
    encode_signals,
    fuse_signals,
    stored_precision,
)
from retrieval.index.product import Indices
from retrieval.index.vectors import VectorStore
from retrieval.mining import known_encoders
from retrieval.models.benchmarks import Places
from retrieval.models.collections import MemberQuerySet

ROWS_A_READ = 2000
MEMORY_MB = 256
"""For scores of a block of queries; more makes a search no faster."""

DEPTH = 1000
"""Results kept for a query: what lies deeper adds at most a thousandth to a reciprocal rank."""

RERANK_DEPTH = 100
"""Results of a query that a reranker ranks again, unless somebody says otherwise."""


@dataclass(frozen=True, slots=True)
class System:
    """What ranks: encoders by name, whose mean decides. Its name joins theirs by +.

    `reranker` ranks the first `rerank_depth` of their results again; None where their order stays.
    """

    name: str
    encoders: Sequence[Encoder]
    reranker: Reranker | None = None
    rerank_depth: int = 0

    @property
    def identities(self) -> list[str]:
        """What the encoders are to the last option. Raises `encoders.MissingWeights`."""
        return [encoder.identity for encoder in self.encoders]


@dataclass(frozen=True, slots=True)
class Search:
    """How systems search: text of the snippets, the pool (None: all), how many results, where vectors are."""

    text_option: TextOption
    pool: Mapping[int, Sequence[int]] | None
    vectors: Path
    depth: int = DEPTH
    progress: StageProgress | None = None


def find_system(name: str) -> System:
    """The system called, for example, `bm25`, `bm25+minilm` or `bm25+codebert:/models/mine`.

    A reranker may follow: `bm25 >100> cross-encoder:/models/mine`. Raises `encoders.UnknownEncoder`, and
    `rerankers.UnknownReranker`.
    """
    first, depth, reranker = split_second_stage(name)
    names = encoders_of(first)
    if len(set(names)) < len(names):
        raise encoders.UnknownEncoder(f"{name!r} names an encoder twice; name each once")
    found = [known_encoders.find_encoder(encoder) for encoder in names]
    return System(name, found, find_reranker(reranker) if depth else None, min(depth, DEPTH))


def as_stored(what: System, content: Content, how: Search) -> System:
    """`what` in the precision in which the benchmark's snippets are stored, if they are."""
    members = snippet_members(content.benchmark)

    def sample() -> list[str]:
        some = stored_precision.sample_evenly(list(members.values_list("pk", flat=True)))
        return list(read_texts(members.filter(pk__in=some), how.text_option))

    place = VectorStore(how.vectors, how.text_option)
    return replace(what, encoders=stored_precision.as_stored(what.encoders, place, sample))


def rank_snippets(what: System, content: Content, how: Search) -> Iterator[tuple[int, Places]]:
    """Yield (query, places of its best snippets) for each query; ties go to the snippet that comes first.

    Two snippets that are the same without their docstrings both take part: which one was labelled is not for
    the search to decide. One whose docstring can't be told is left out. Where the benchmark goes by ids, all
    ids of a text follow each other. Raises `encoders.MissingWeights`.
    """
    queries = list(read_texts(query_members(content.benchmark), "whole"))
    every = list(read_texts(snippet_members(content.benchmark), how.text_option))
    searched: Indices = np.flatnonzero([bool(text) for text in every]).astype(np.int64)
    if not len(searched):
        yield from ((query, np.zeros(0, dtype=np.uint32)) for query in content.queries)
        return
    snippets = [every[place] for place in searched]
    store = VectorStore(how.vectors, how.text_option)
    options = Options(memory_mb=MEMORY_MB, progress=how.progress)
    signals = encode_signals(queries, snippets, what.encoders, store.rows, options)
    if how.pool is None:
        found = fuse_signals(signals, len(queries), len(snippets), how.depth, options)
        listed = (searched[[hit.index for hit in hits]] for hits in found)
    else:
        listed = (
            searched[_reranked(signals, row, _pool_of(how.pool[query], content, searched))]
            for row, query in enumerate(content.queries[: len(queries)])
        )
    for query, members in zip(content.queries, listed, strict=False):  # aliases follow
        places = [place for own in members.tolist() for place in content.snippet_places.get(own, (own,))]
        for key in content.query_keys.get(query, (query,)):
            yield key, np.array(places[: how.depth], dtype=np.uint32)


def _pool_of(places: Sequence[int], content: Content, searched: Indices) -> Indices:
    """Which of the searched snippets are in a pool: aliases are not searched."""
    own = [place for place in places if place < content.benchmark.snippets_until]
    return np.searchsorted(searched, np.intersect1d(own, searched)).astype(np.int64)


def _reranked(signals: Sequence[Cosines | Terms], row: int, candidates: Indices) -> Places:
    """One query's candidates by falling mean; equal ones keep ascending places.

    Encoders of terms alone leave out what shares no term with the query.
    """
    if not len(candidates):
        return np.zeros(0, dtype=np.uint32)
    entering = [
        signal.raw(np.full(len(candidates), row), candidates)
        if isinstance(signal, Cosines)
        else signal.index.scores([signal.queries[row]]).share(0, candidates)
        for signal in signals
    ]
    means = np.round(np.array(entering).mean(axis=0), DECIMALS)
    order = np.argsort(-means, kind="stable")
    if not any(isinstance(signal, Cosines) for signal in signals):
        order = order[means[order] > 0]
    return candidates[order].astype(np.uint32)


def read_texts(members: MemberQuerySet, option: TextOption | str) -> Iterator[str]:
    """What is searched of each member, in the order of the rows; empty where that can't be told."""
    for row in members.select_related("text__body").iterator(ROWS_A_READ):
        yield extract_searched_text(row.text.text, option)
