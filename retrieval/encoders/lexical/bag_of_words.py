"""Bag of words. It needs neither weights nor torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from retrieval.encoders.base import Doubles, LexicalScores, TermWeights, score_by_terms
from retrieval.encoders.lexical.cells import (
    Sparse,
    Vocabulary,
    count_query_terms,
    count_term_cells,
    number_terms,
    sparse_rows,
)
from retrieval.encoders.lexical.frequencies import Frequencies


@dataclass(frozen=True, slots=True)
class BagOfWordsIndex:
    """Term counts of one collection, each snippet's scaled to length 1: `weights`, shape (terms, snippets).

    Terms are numbered by their spelling.
    """

    vocabulary: Vocabulary
    weights: Sparse

    def scores(self, queries: Sequence[str]) -> LexicalScores:
        """Raw score = cosine of the two vectors of term counts."""
        return score_by_terms(self, queries)

    def weigh_terms(self, queries: Sequence[str]) -> Sequence[TermWeights]:
        """Counts, scaled to length 1."""
        return [TermWeights(count_query_terms(queries, self.vocabulary, unit=True), self.weights)]

    def bound_scores(self, queries: Sequence[str]) -> Doubles:
        """No cosine is above 1."""
        return np.ones(len(queries))


@dataclass(frozen=True, slots=True)
class BagOfWords:
    """Cosine of term-count vectors."""

    name: str = "bow"

    @property
    def identity(self) -> str:
        """Bag of words has no options."""
        return self.name

    def fields(self, snippet: str) -> tuple[str, ...]:
        """Nothing: a snippet's weights are its own."""
        return ()

    def fit(self, snippets: Sequence[str], known: Sequence[Frequencies] = ()) -> BagOfWordsIndex:
        """Index a collection, or a part of one."""
        ids, vocabulary = number_terms(snippets)
        found = count_term_cells(ids)
        squares = np.bincount(found.texts, weights=found.counts**2, minlength=len(snippets))
        weights = found.counts / np.sqrt(squares)[found.texts]
        shape = len(vocabulary), len(snippets)
        return BagOfWordsIndex(
            vocabulary, sparse_rows(weights, found.texts, found.starts(len(vocabulary)), shape)
        )
