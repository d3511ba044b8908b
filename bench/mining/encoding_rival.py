"""sentence-transformers with its defaults on the same weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from retrieval.encoders import find_encoder
from retrieval.encoders.dense.transformer import TransformerEncoder
from retrieval.index.product import Floats, normalize_vectors


class Encoder:
    """`SentenceTransformer.encode` with MiniLM."""

    def __init__(self) -> None:
        from sentence_transformers import SentenceTransformer

        minilm = find_encoder("minilm")
        assert isinstance(minilm, TransformerEncoder)
        self.model = SentenceTransformer(str(minilm.folder))

    def encode(self, texts: Sequence[str]) -> Floats:
        return normalize_vectors(np.array(self.model.encode(list(texts)), dtype=np.float32))
