"""How many snippets of a collection have a term: what lexical weights rest on, in each of its parts."""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from retrieval.encoders.lexical.terms import tokenize_text


@dataclass(frozen=True, slots=True)
class Frequencies:
    """Of one field of a collection: its snippets, their terms in all, and of each the snippets with it."""

    size: int
    length: int
    of: Mapping[str, int]

    @property
    def mean_length(self) -> float:
        """Terms a snippet; 0 of none."""
        return self.length / self.size if self.size else 0.0

    def idf(self, term: str) -> float:
        """Lucene's inverse document frequency: ln(1 + (N - df + 0.5) / (df + 0.5)), above 0."""
        frequency = self.of.get(term, 0)
        return math.log(1 + (self.size - frequency + 0.5) / (frequency + 0.5))

    def to_bytes(self) -> bytes:
        stream = io.BytesIO()
        terms = "\n".join(self.of).encode()  # a term is letters or digits
        np.savez_compressed(
            stream,
            size=self.size,
            length=self.length,
            terms=np.frombuffer(terms, dtype=np.uint8),
            counts=np.fromiter(self.of.values(), np.int64, len(self.of)),
        )
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, stored: bytes) -> Frequencies:
        with np.load(io.BytesIO(stored), allow_pickle=False) as arrays:
            terms = arrays["terms"].tobytes().decode().split("\n")
            of = dict(zip(terms, arrays["counts"].tolist(), strict=False))
            return cls(int(arrays["size"]), int(arrays["length"]), of)


class Counting:
    """Frequencies of texts that come one by one."""

    def __init__(self) -> None:
        self.size, self.length = 0, 0
        self.of = Counter[str]()

    def add(self, text: str) -> None:
        """Count one snippet's text, or one of its fields."""
        found = tokenize_text(text)
        self.size, self.length = self.size + 1, self.length + len(found)
        self.of.update(set(found))

    def done(self) -> Frequencies:
        """What was counted."""
        return Frequencies(self.size, self.length, dict(self.of))


def count_document_frequencies(texts: Iterable[str]) -> Frequencies:
    """The frequencies of all terms in some texts."""
    counting = Counting()
    for text in texts:
        counting.add(text)
    return counting.done()
