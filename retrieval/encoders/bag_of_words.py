"""Bag of words. It needs neither weights nor torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from retrieval.encoders.base import DECIMALS, Doubles, LexicalScores
from retrieval.encoders.cells import Vocabulary, cells, numbered
from retrieval.encoders.frequencies import Frequencies
from retrieval.encoders.terms import tokens


@dataclass(frozen=True, slots=True)
class Postings:
    """Term-major sparse matrix: for each term the snippets that have it, ascending, with their weights.

    Terms are numbered by their spelling.
    Term t's part is `weights[starts[t]:starts[t + 1]]`, for the snippets at the same places of `snippets`.
    """

    vocabulary: Vocabulary
    starts: npt.NDArray[np.int64]
    snippets: npt.NDArray[np.int32]
    weights: Doubles
    size: int

    def row(self, query: Sequence[tuple[int, float]]) -> Doubles:
        """Sum of query weight x snippet weight over the query's (term, weight), shape (size,).

        Terms are added by their spelling in float64, so that the sum depends neither on the machine nor on
        the other snippets of the matrix.
        """
        row = np.zeros(self.size)
        for term, weight in sorted(query):
            place = slice(self.starts[term], self.starts[term + 1])
            row[self.snippets[place]] += weight * self.weights[place]
        return row


def known_terms(text: str, vocabulary: Vocabulary) -> Counter[int]:
    """Count the terms of a query that the collection has."""
    return Counter(vocabulary[token] for token in tokens(text) if token in vocabulary)


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

    def fields(self, snippet: str) -> tuple[str, ...]:
        """Nothing: a snippet's weights are its own."""
        return ()

    def fit(self, snippets: Sequence[str], known: Sequence[Frequencies] = ()) -> BagOfWordsIndex:
        """Index a collection, or a part of one."""
        ids, vocabulary = numbered(snippets)
        found = cells(ids)
        squares = np.bincount(found.texts, weights=found.counts**2, minlength=len(snippets))
        weights, starts = found.counts / np.sqrt(squares)[found.texts], found.starts(len(vocabulary))
        return BagOfWordsIndex(
            Postings(vocabulary, starts, found.texts.astype(np.int32), weights, len(snippets))
        )


def _matrix(rows: list[Doubles], width: int) -> Doubles:
    return np.round(np.array(rows, dtype=np.float64).reshape(len(rows), width), DECIMALS)
