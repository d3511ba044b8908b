"""The built-in encoders: BM25 and bag of words. They need neither weights nor torch."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from retrieval.encoders.base import DECIMALS, Doubles, LexicalScores

CAMEL_HUMP = re.compile(r"([a-z0-9])([A-Z])")
WORD_OR_NUMBER = re.compile(r"[^\W\d_]+|\d+")

Vocabulary = dict[str, int]


def tokens(text: str) -> list[str]:
    """Split text at everything that is no letter and at camel humps; lower-case; keep numbers apart.

    >>> tokens("readCSV(file_name, 2)")
    ['read', 'csv', 'file', 'name', '2']
    """
    return WORD_OR_NUMBER.findall(CAMEL_HUMP.sub(r"\1 \2", text).lower())


@dataclass(frozen=True, slots=True)
class Postings:
    """Term-major sparse matrix: for each term the snippets that have it, ascending, with their weights.

    Term t's part is `weights[starts[t]:starts[t + 1]]`, for the snippets at the same places of `snippets`.
    """

    vocabulary: Vocabulary
    starts: npt.NDArray[np.int64]
    snippets: npt.NDArray[np.int32]
    weights: Doubles
    size: int

    def row(self, query: Sequence[tuple[int, float]]) -> Doubles:
        """Sum of query weight x snippet weight over the query's (term, weight), shape (size,).

        Terms are added in ascending order in float64, so the sum does not depend on the machine.
        """
        row = np.zeros(self.size)
        for term, weight in sorted(query):
            place = slice(self.starts[term], self.starts[term + 1])
            row[self.snippets[place]] += weight * self.weights[place]
        return row


def known_terms(text: str, vocabulary: Vocabulary) -> Counter[int]:
    """Count the terms of a query that the collection has."""
    return Counter(vocabulary[token] for token in tokens(text) if token in vocabulary)


def term_ids(snippets: Sequence[str]) -> tuple[list[list[int]], Vocabulary]:
    """Number the terms of a collection in the order in which they are first seen."""
    vocabulary: Vocabulary = {}
    ids = [[vocabulary.setdefault(token, len(vocabulary)) for token in tokens(text)] for text in snippets]
    return ids, vocabulary


@dataclass(frozen=True, slots=True)
class BM25Index:
    """BM25 weights of one collection."""

    postings: Postings

    def scores(self, queries: Sequence[str]) -> LexicalScores:
        """Raw score = BM25 sum; bound = sum of the query's idf, where a repeated term counts each time.

        Terms that no snippet has count in the bound: a query of mostly foreign words trusts BM25 less.
        """
        raw = [self._row(query) for query in queries]
        bound = [sum(idf(self._frequency(token), self.postings.size) for token in tokens(q)) for q in queries]
        return LexicalScores(_matrix(raw, self.postings.size), np.array(bound, dtype=np.float64))

    def _row(self, query: str) -> Doubles:
        counts = known_terms(query, self.postings.vocabulary)
        return self.postings.row([(term, float(n)) for term, n in counts.items()])

    def _frequency(self, token: str) -> int:
        term = self.postings.vocabulary.get(token)
        return 0 if term is None else int(self.postings.starts[term + 1] - self.postings.starts[term])


def idf(frequency: int, size: int) -> float:
    """Lucene's inverse document frequency of a term that `frequency` of `size` snippets have; above 0."""
    return math.log(1 + (size - frequency + 0.5) / (frequency + 0.5))


@dataclass(frozen=True, slots=True)
class BM25:
    """Lucene's BM25: the sum of idf x tf / (tf + k1 (1 - b + b len / mean len)) over a query's terms.

    idf is ln(1 + (N - df + 0.5) / (df + 0.5)). The part after idf is below 1, so
    score / sum of idf lies in [0, 1). The weights come from bm25s.
    Source: Kamphuis et al. 2020, "Which BM25 do you mean?".
    """

    k1: float = 1.5
    b: float = 0.75
    name: str = "bm25"

    @property
    def identity(self) -> str:
        """Name and parameters."""
        return f"{self.name};k1={self.k1};b={self.b}"

    def fit(self, snippets: Sequence[str]) -> BM25Index:
        """Index a collection; needs memory for about 20 bytes per distinct (term, snippet)."""
        ids, vocabulary = term_ids(snippets)
        return BM25Index(self._postings(ids, vocabulary))

    def _postings(self, ids: list[list[int]], vocabulary: Vocabulary) -> Postings:
        if not vocabulary:
            return _empty_postings(len(ids))
        # Importing it probes optional accelerators, which callers of `tokens` need not pay for.
        import bm25s

        engine = bm25s.BM25(
            k1=self.k1, b=self.b, method="lucene", dtype="float64", backend="numpy", csc_backend="numpy"
        )
        matrix = engine.build_index_from_ids(list(vocabulary.values()), ids, show_progress=False)
        starts = np.asarray(matrix["indptr"], dtype=np.int64)
        return Postings(vocabulary, starts, matrix["indices"], matrix["data"], len(ids))


@dataclass(frozen=True, slots=True)
class BagOfWordsIndex:
    """Term counts of one collection, each snippet's scaled to length 1."""

    postings: Postings

    def scores(self, queries: Sequence[str]) -> LexicalScores:
        """Raw score = cosine of the two vectors of term counts; bound = 1.

        A query's unknown terms count in its length: a query is no closer for words that nobody has.
        """
        rows = [self._row(query) for query in queries]
        return LexicalScores(_matrix(rows, self.postings.size), np.ones(len(rows)))

    def _row(self, query: str) -> Doubles:
        length = float(np.sqrt(sum(n * n for n in Counter(tokens(query)).values())))
        counts = known_terms(query, self.postings.vocabulary)
        return self.postings.row([(term, n / length) for term, n in counts.items()])


@dataclass(frozen=True, slots=True)
class BagOfWords:
    """Cosine of term-count vectors."""

    name: str = "bow"

    @property
    def identity(self) -> str:
        """Bag of words has no options."""
        return self.name

    def fit(self, snippets: Sequence[str]) -> BagOfWordsIndex:
        """Index a collection; needs memory for about 40 bytes per distinct (term, snippet) while it runs."""
        ids, vocabulary = term_ids(snippets)
        if not vocabulary:
            return BagOfWordsIndex(_empty_postings(len(ids)))
        owners = np.repeat(np.arange(len(ids)), [len(terms) for terms in ids])
        terms = np.fromiter((term for snippet in ids for term in snippet), np.int64, len(owners))
        cells, counts = np.unique(terms * len(ids) + owners, return_counts=True)
        columns, rows = np.divmod(cells, len(ids))
        lengths = np.sqrt(np.bincount(rows, weights=counts.astype(np.float64) ** 2, minlength=len(ids)))
        starts = np.searchsorted(columns, np.arange(len(vocabulary) + 1))
        return BagOfWordsIndex(
            Postings(vocabulary, starts, rows.astype(np.int32), counts / lengths[rows], len(ids))
        )


def _empty_postings(size: int) -> Postings:
    return Postings({}, np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0), size)


def _matrix(rows: list[Doubles], width: int) -> Doubles:
    return np.round(np.array(rows, dtype=np.float64).reshape(len(rows), width), DECIMALS)
