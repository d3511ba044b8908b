"""How often each term is in each text: the cells of a sparse matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from retrieval.encoders.base import Doubles
from retrieval.encoders.terms import tokenize_text

Vocabulary = dict[str, int]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cells:
    """`counts[i]` times term `terms[i]` is in text `texts[i]`: by term, then text; `lengths` of texts."""

    terms: Numbers
    texts: Numbers
    counts: Doubles
    lengths: Numbers

    def starts(self, terms: int) -> Numbers:
        """Where each of so many terms begins, and where the last one ends: shape (terms + 1,)."""
        return np.searchsorted(self.terms, np.arange(terms + 1))


def number_terms(texts: Sequence[str]) -> tuple[list[list[int]], Vocabulary]:
    """The terms of each text, numbered by their spelling."""
    seen: Vocabulary = {}
    ids = [[seen.setdefault(token, len(seen)) for token in tokenize_text(text)] for text in texts]
    vocabulary = {term: number for number, term in enumerate(sorted(seen))}
    places = [vocabulary[term] for term in seen]
    return [[places[number] for number in found] for found in ids], vocabulary


def count_term_cells(ids: Sequence[Sequence[int]]) -> Cells:
    """Count numbered terms; needs about 40 bytes per distinct (term, text) while it runs."""
    lengths = np.array([len(terms) for terms in ids], dtype=np.int64)
    flat = np.fromiter((term for terms in ids for term in terms), np.int64, int(lengths.sum()))
    owners = np.repeat(np.arange(len(ids)), lengths)
    found, counts = np.unique(flat * max(1, len(ids)) + owners, return_counts=True)
    terms, texts = np.divmod(found, max(1, len(ids)))
    return Cells(terms, texts, counts.astype(np.float64), lengths)
