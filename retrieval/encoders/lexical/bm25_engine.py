"""The door of bm25s: its index of a whole collection, and of a part that is weighed like the whole."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import bm25s
import numpy as np

from retrieval.encoders.lexical.cells import Sparse, Vocabulary, count_term_cells, number_terms, sparse_rows
from retrieval.encoders.lexical.frequencies import Frequencies

# Importing bm25s sets its logger to DEBUG, and each index then says a line among what commands print.
logging.getLogger("bm25s").setLevel(logging.WARNING)


def index_snippets(
    snippets: Sequence[str], part_of: Frequencies | None, **parameters: float
) -> tuple[Vocabulary, Sparse]:
    """Weigh the terms of a collection, or of some snippets as `part_of` one, in float64.

    Returns the terms, numbered by spelling, and their weights, shape (terms, snippets).
    """
    ids, vocabulary = number_terms(snippets)
    shape = len(vocabulary), len(snippets)
    if not vocabulary:  # which bm25s can't index
        return vocabulary, sparse_rows(np.zeros(0), np.zeros(0), np.zeros(1), shape)
    options = parameters | {"method": "lucene", "dtype": "float64"}
    engine = bm25s.BM25(**options) if part_of is None else Part(part_of, vocabulary, **options)
    engine.index((ids, vocabulary), create_empty_token=False, show_progress=False)
    found = engine.scores
    return vocabulary, sparse_rows(found["data"], found["indices"], found["indptr"], shape)


class Part(bm25s.BM25):  # type: ignore[misc]  # bm25s states no types
    """The rows that a part of a collection has in bm25s's index of all of it, to the last bit."""

    def __init__(self, whole: Frequencies, vocabulary: Vocabulary, **options: Any) -> None:
        super().__init__(**options)
        self.nonoccurrence_array = None  # which other ways of BM25 have
        self.mean_length = whole.mean_length
        self.rarity = np.array([whole.idf(term) for term in vocabulary])

    def build_index_from_ids(
        self, unique_token_ids: list[int], corpus_token_ids: list[list[int]], **_: bool
    ) -> dict[str, Any]:
        """Weigh terms by the frequencies of the collection; bm25s has this method to be overridden."""
        found = count_term_cells(corpus_token_ids)
        damping = self.k1 * ((1 - self.b) + self.b * found.lengths[found.texts] / self.mean_length)
        return {
            "data": self.rarity[found.terms] * (found.counts / (damping + found.counts)),
            "indices": found.texts.astype(self.int_dtype),
            "indptr": found.starts(len(unique_token_ids)),
            "num_docs": len(corpus_token_ids),
        }
