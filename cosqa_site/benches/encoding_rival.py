"""sentence-transformers with its defaults on the same weights."""

from __future__ import annotations

import numpy as np

from retrieval.encoders import get
from retrieval.encoders.transformer import TransformerEncoder
from retrieval.product import Floats


class Encoder:
    """`SentenceTransformer.encode` with MiniLM."""

    def __init__(self) -> None:
        from sentence_transformers import SentenceTransformer

        minilm = get("minilm")
        assert isinstance(minilm, TransformerEncoder)
        self.model = SentenceTransformer(str(minilm.folder))

    def encode(self, texts: list[str]) -> Floats:
        vectors = np.asarray(self.model.encode(texts), dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
