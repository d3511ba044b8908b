"""Who comes first among equals: the snippet whose text has the lower hash, in whatever order they came."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from retrieval.index.product import Indices

Keys = npt.NDArray[np.uint64]


def digest_text(text: str) -> bytes:
    """128 bits of what a stripped text is known by."""
    return hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).digest()[:16]


def text_key_of(text: str) -> tuple[int, int]:
    """The same as two numbers."""
    digest = digest_text(text)
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:16], "little")


def keys_of_texts(texts: Sequence[str]) -> Keys:
    """The keys of texts, shape (len(texts), 2)."""
    return np.array([text_key_of(text) for text in texts], dtype=np.uint64).reshape(len(texts), 2)


def rank_by_hash(texts: Sequence[str]) -> Indices:
    """The place of each text among all by ascending keys."""
    keys = keys_of_texts(texts)
    ranks = np.empty(len(texts), dtype=np.int64)
    ranks[np.lexsort((keys[:, 1], keys[:, 0]))] = np.arange(len(texts))
    return ranks
