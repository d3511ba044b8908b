"""BM25 by bm25s. It needs neither weights nor torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from retrieval.encoders.base import DECIMALS, Doubles, LexicalScores
from retrieval.encoders.frequencies import Frequencies, count_document_frequencies
from retrieval.encoders.terms import tokenize_text

if TYPE_CHECKING:
    import bm25s


@dataclass(frozen=True, slots=True)
class BM25Index:
    """bm25s's index of one collection, or of a part of one by the `frequencies` of all of it."""

    engine: bm25s.BM25
    size: int
    frequencies: Frequencies

    def scores(self, queries: Sequence[str]) -> LexicalScores:
        """Raw score = BM25 sum; bound = sum of the query's idf, where a repeated term counts each time.

        Terms that no snippet has count in the bound: a query of mostly foreign words trusts BM25 less.
        """
        raw = np.array([self._row(query) for query in queries]).reshape(len(queries), self.size)
        bound = [sum(map(self.frequencies.idf, tokenize_text(query))) for query in queries]
        return LexicalScores(np.round(raw, DECIMALS), np.array(bound, dtype=np.float64))

    def _row(self, query: str) -> Doubles:
        """Terms are added by their spelling, so that the sum does not depend on the other snippets."""
        found = sorted(self.engine.get_tokens_ids(tokenize_text(query)))
        scores: Doubles = self.engine.get_scores_from_ids(found) if found else np.zeros(self.size)
        return scores


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
        from retrieval.encoders.bm25_engine import index_snippets

        part_of = known[0] if known else None
        engine = index_snippets(snippets, part_of, k1=self.k1, b=self.b)
        return BM25Index(engine, len(snippets), part_of or count_document_frequencies(snippets))
