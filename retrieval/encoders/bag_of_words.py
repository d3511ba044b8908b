"""Bag of words. It needs neither weights nor torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from retrieval.encoders.base import DECIMALS, LexicalScores
from retrieval.encoders.cells import Vocabulary, count_term_cells, number_terms
from retrieval.encoders.frequencies import Frequencies
from retrieval.encoders.terms import tokenize_text

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, slots=True)
class BagOfWordsIndex:
    """Term counts of one collection, each snippet's scaled to length 1: `weights`, shape (terms, snippets).

    Terms are numbered by their spelling.
    """

    vocabulary: Vocabulary
    weights: csr_array

    def scores(self, queries: Sequence[str]) -> LexicalScores:
        """Raw score = cosine of the two vectors of term counts; bound = 1.

        A query's unknown terms count in its length: a query is no closer for words that nobody has. SciPy
        adds a query's terms in their order, so that a sum does not depend on the other snippets.
        """
        dense = (self._weigh_queries(queries) @ self.weights).toarray()
        return LexicalScores(np.round(dense, DECIMALS), np.ones(len(queries)))

    def _weigh_queries(self, queries: Sequence[str]) -> csr_array:
        """The queries' counts of known terms, scaled to length 1, shape (queries, terms)."""
        from scipy.sparse import csr_array

        weights, terms, starts = list[float](), list[int](), [0]
        for query in queries:
            counts = Counter(tokenize_text(query))
            length = float(np.sqrt(sum(n * n for n in counts.values())))
            known = sorted(
                (self.vocabulary[term], n) for term, n in counts.items() if term in self.vocabulary
            )
            terms += [term for term, _ in known]
            weights += [n / length for _, n in known]
            starts.append(len(terms))
        places = np.array(terms, dtype=np.int32), np.array(starts, dtype=np.int32)
        return csr_array((np.array(weights), *places), (len(queries), len(self.vocabulary)))


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
        from scipy.sparse import csr_array

        ids, vocabulary = number_terms(snippets)
        found = count_term_cells(ids)
        squares = np.bincount(found.texts, weights=found.counts**2, minlength=len(snippets))
        weights = found.counts / np.sqrt(squares)[found.texts]
        # Half the memory of what numpy counts in; both kinds of places must have one type.
        places = found.texts.astype(np.int32), found.starts(len(vocabulary)).astype(np.int32)
        return BagOfWordsIndex(vocabulary, csr_array((weights, *places), (len(vocabulary), len(snippets))))
