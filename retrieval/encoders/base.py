"""What mining asks of an encoder. Two kinds: dense (text to vector) and lexical (text to term weights)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from retrieval.encoders.lexical.frequencies import Frequencies
from retrieval.fusion import scale_scores

if TYPE_CHECKING:
    from retrieval.encoders.lexical.cells import Sparse

Floats: TypeAlias = npt.NDArray[np.float32]
Doubles: TypeAlias = npt.NDArray[np.float64]
Kind: TypeAlias = Literal["query", "snippet"]
Progress: TypeAlias = Callable[[int, int], None]
"""Called with (done, total); raising inside it stops the work."""

DECIMALS = 9
"""Lexical scores are rounded to this many decimals, so that sums of logarithms that differ in the
last bit from one machine to the next give one ranking."""


class MissingWeights(Exception):
    """An encoder can't be used: its weights are not on this machine, or its server does not give vectors.

    The message names the file or the setting, and how to get it.
    """


class NoDirection(MissingWeights):
    """An encoder made a vector that points nowhere; the message names the text."""


@runtime_checkable
class DenseEncoder(Protocol):
    """Maps a text to one vector of length 1."""

    @property
    def name(self) -> str:
        """What a person types to choose this encoder; unique within a mining."""

    @property
    def identity(self) -> str:
        """Name, weights and every option that changes a vector: the key of stored vectors."""

    @property
    def dimension(self) -> int:
        """Length of a vector. Raises `MissingWeights` where it is only known from the weights."""

    def encode(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Floats:
        """Return float32 vectors of shape (len(texts), dimension), each of Euclidean length 1."""


def encode_texts(
    encoder: DenseEncoder, texts: Sequence[str], kind: Kind, progress: Progress | None = None
) -> Floats:
    """What the encoder makes of the texts. Raises NoDirection where a vector is all 0 or not finite.

    One such vector is enough to spoil every list: it is nearest to all queries, or to none.
    """
    vectors = encoder.encode(texts, kind, progress)
    lengths = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    bad = np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))
    if len(bad):
        why = "is all 0" if lengths[bad[0]] == 0 else "is not finite"
        raise NoDirection(
            f"{encoder.name}: the vector of {texts[bad[0]][:60]!r} {why} ({len(bad)} of {len(texts)} texts). "
            "The encoder's weights are damaged, or do not fit the model."
        )
    return vectors


@dataclass(frozen=True, slots=True)
class LexicalScores:
    """Scores of some queries (rows) for all snippets (columns) of an index.

    `raw` has shape (queries, snippets) and the encoder's own unit; `bound`, shape (queries,), is the
    largest raw score that any snippet could reach for the query.
    """

    raw: Doubles
    bound: Doubles

    @property
    def entering(self) -> Doubles:
        """Raw scores as shares of their bounds, in [0, 1], shape (queries, snippets): what enters the mean.

        A query without a single known term has bound 0 and enters as 0 everywhere.
        """
        return np.array([self.share(row) for row in range(len(self.bound))]).reshape(self.raw.shape)

    def share(self, row: int, snippets: npt.NDArray[np.int64] | slice = slice(None)) -> Doubles:
        """The entering scores of one query with some snippets."""
        return shares_of(self.raw[row, snippets], self.bound[row])


def shares_of(raw: Doubles, bound: Doubles) -> Doubles:
    """Raw scores as shares of their bounds (one for all, or one for each); 0 where the bound is 0."""
    return np.clip(np.round(scale_scores(raw, bound), DECIMALS), 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class TermWeights:
    """What scores of one field are products of: weights of queries, shape (q, terms), and of snippets,
    shape (terms, n). None is below 0. A term's row of `snippets` names those that have it.
    """

    queries: Sparse
    snippets: Sparse


class LexicalIndex(Protocol):
    """A lexical encoder's term weights of one collection."""

    def scores(self, queries: Sequence[str]) -> LexicalScores:
        """Score every snippet of the index for each query."""

    def weigh_terms(self, queries: Sequence[str]) -> Sequence[TermWeights]:
        """The weights of each field: a raw score is the sum of their products, each rounded to DECIMALS."""

    def bound_scores(self, queries: Sequence[str]) -> Doubles:
        """The largest raw score that any snippet could reach for each query, shape (queries,)."""


def score_by_terms(index: LexicalIndex, queries: Sequence[str]) -> LexicalScores:
    """Every snippet's scores: SciPy adds a query's terms in their order, so a sum depends on nothing else."""
    products = [(field.queries @ field.snippets).toarray() for field in index.weigh_terms(queries)]
    raw: Doubles = np.sum([np.round(product, DECIMALS) for product in products], axis=0)
    return LexicalScores(raw, index.bound_scores(queries))


@runtime_checkable
class LexicalEncoder(Protocol):
    """Weighs the terms that a query and a snippet share."""

    @property
    def name(self) -> str:
        """What a person types to choose this encoder; unique within a mining."""

    @property
    def identity(self) -> str:
        """Name and every option that changes a score."""

    def fields(self, snippet: str) -> tuple[str, ...]:
        """The texts of a snippet of which frequencies have to be known, always as many; none for no field."""

    def fit(self, snippets: Sequence[str], known: Sequence[Frequencies] = ()) -> LexicalIndex:
        """Count the terms of the whole collection, or of a part of it with the frequencies of all fields.

        Scores of a snippet are the same either way.
        """


Encoder: TypeAlias = DenseEncoder | LexicalEncoder
