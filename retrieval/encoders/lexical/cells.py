"""How often each term is in each text: the cells of a sparse matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from retrieval.encoders.lexical.terms import tokenize_text

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Vocabulary = dict[str, int]
Sparse: TypeAlias = "csr_array"
"""A sparse array by its rows."""
Numbers = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float64]
Numbered: TypeAlias = tuple[list[list[int]], Vocabulary]
_kept: ContextVar[list[tuple[Sequence[str], Numbered]] | None] = ContextVar("kept", default=None)


@dataclass(frozen=True, slots=True)
class Cells:
    """`counts[i]` times term `terms[i]` is in text `texts[i]`: by term, then text; `lengths` of texts."""

    terms: Numbers
    texts: Numbers
    counts: Weights
    lengths: Numbers

    def starts(self, terms: int) -> Numbers:
        """Where each of so many terms begins, and where the last one ends: shape (terms + 1,)."""
        return np.searchsorted(self.terms, np.arange(terms + 1))


@contextmanager
def keep_numbered_terms() -> Iterator[Callable[[], None]]:
    """Within, terms of the same texts are numbered once for encoders that follow each other.

    Gives what forgets them: some 10 bytes a word, which are of no use any more.
    """
    kept = list[tuple[Sequence[str], Numbered]]()
    token = _kept.set(kept)
    try:
        yield kept.clear
    finally:
        _kept.reset(token)


def number_terms(texts: Sequence[str]) -> Numbered:
    """The terms of each text, numbered by their spelling. Nothing of it may be changed."""
    kept = _kept.get()
    if kept and kept[0][0] is texts:
        return kept[0][1]
    numbered = _number_terms(texts)
    if kept is not None:
        kept[:] = [(texts, numbered)]
    return numbered


def _number_terms(texts: Sequence[str]) -> Numbered:
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


def sparse_rows(
    values: Weights, columns: npt.NDArray[Any], starts: npt.NDArray[Any], shape: tuple[int, int]
) -> Sparse:
    """A sparse array by its rows: half the memory of what numpy counts in, and one type for both places."""
    from scipy.sparse import csr_array

    return csr_array((values, columns.astype(np.int32), starts.astype(np.int32)), shape)


def count_query_terms(queries: Sequence[str], vocabulary: Vocabulary, *, unit: bool = False) -> Sparse:
    """How often each known term is in each query, shape (queries, terms); `unit`: over the query's length.

    Unknown terms count in that length: a query is no closer for words that nobody has.
    """
    weights, terms, starts = list[float](), list[int](), [0]
    for query in queries:
        counts = Counter(tokenize_text(query))
        length = float(np.sqrt(sum(n * n for n in counts.values()))) if unit else 1.0
        known = sorted((vocabulary[term], n) for term, n in counts.items() if term in vocabulary)
        terms += [term for term, _ in known]
        weights += [n / length for _, n in known]
        starts.append(len(terms))
    places = np.array(terms, dtype=np.int32), np.array(starts, dtype=np.int32)
    return sparse_rows(np.array(weights), *places, (len(queries), len(vocabulary)))
