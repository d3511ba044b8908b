"""An encoder by its name, in a notebook: texts in, vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, cast

from cosqa.application import application_first

with application_first():
    from retrieval.encoders import DenseEncoder, MissingWeights, UnknownEncoder, find_encoder, is_lexical

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Encoder", "MissingWeights", "UnknownEncoder"]


class Encoder:
    """Turns texts into vectors: `Encoder("minilm").embed(["sort a list"])`.

    `name` is what `cosqa admin encoders` lists, for a transformer also with its weights,
    `codebert:/models/mine`. Making one loads nothing. Raises UnknownEncoder, and ValueError for one that
    counts terms and so has no vectors.
    """

    def __init__(self, name: str) -> None:
        found = find_encoder(name)
        if is_lexical(found):
            raise ValueError(f"{name} counts terms: it has no vectors.")
        self.found = cast(DenseEncoder, found)

    @property
    def name(self) -> str:
        return self.found.name

    @property
    def dimension(self) -> int:
        """Length of a vector. Raises MissingWeights."""
        return self.found.dimension

    def embed(
        self, texts: Sequence[str], kind: Literal["query", "function", "snippet"] = "query"
    ) -> npt.NDArray[np.float32]:
        """Vectors of length 1, shape (texts, dimension); their products are cosines.

        `kind` says what the texts are: some encoders read queries and functions differently ("snippet" is the
        former name of "function"). Raises MissingWeights, which names what is missing and how to get it.
        """
        return self.found.encode(list(texts), "query" if kind == "query" else "snippet")
