"""BM25 by bm25s. It needs neither weights nor torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from retrieval.encoders.base import Doubles, LexicalScores, TermWeights, score_by_terms
from retrieval.encoders.lexical.cells import Sparse, Vocabulary, count_query_terms
from retrieval.encoders.lexical.frequencies import Frequencies, count_document_frequencies
from retrieval.encoders.lexical.terms import tokenize_text


@dataclass(frozen=True, slots=True)
class BM25Index:
    """The weights of one collection's terms, shape (terms, snippets), as bm25s computes them; or of a part
    of one, by the `frequencies` of all of it. Terms are numbered by their spelling.
    """

    vocabulary: Vocabulary
    weights: Sparse
    frequencies: Frequencies

    def scores(self, queries: Sequence[str]) -> LexicalScores:
        """Raw score = BM25 sum, where a repeated term counts each time."""
        return score_by_terms(self, queries)

    def weigh_terms(self, queries: Sequence[str]) -> Sequence[TermWeights]:
        """How often each term is asked for, and what it weighs in each snippet."""
        return [TermWeights(count_query_terms(queries, self.vocabulary), self.weights)]

    def bound_scores(self, queries: Sequence[str]) -> Doubles:
        """The sum of a query's idf, where a repeated term counts each time.

        Terms that no snippet has count: a query of mostly foreign words trusts BM25 less.
        """
        bound = [sum(map(self.frequencies.idf, tokenize_text(query))) for query in queries]
        return np.array(bound, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class BM25:
    """Lucene's BM25: the sum of idf x tf / (tf + k1 (1 - b + b len / mean len)) over a query's terms.

    idf is ln(1 + (N - df + 0.5) / (df + 0.5)). The part after idf is below 1, so
    score / sum of idf lies in [0, 1). Source: Kamphuis et al. 2020, "Which BM25 do you mean?".
    """

    k1: float = 1.5
    b: float = 0.75
    name: str = "bm25"

    @property
    def identity(self) -> str:
        """Name and parameters."""
        return f"{self.name};k1={self.k1};b={self.b}"

    def fields(self, snippet: str) -> tuple[str, ...]:
        """Its text is the one field."""
        return (snippet,)

    def fit(self, snippets: Sequence[str], known: Sequence[Frequencies] = ()) -> BM25Index:
        """Index a collection, or a part of one of which all frequencies are known."""
        from retrieval.encoders.lexical.bm25_engine import index_snippets

        part_of = known[0] if known else None
        vocabulary, weights = index_snippets(snippets, part_of, k1=self.k1, b=self.b)
        return BM25Index(vocabulary, weights, part_of or count_document_frequencies(snippets))
