"""sentence-transformers with its defaults on the same weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from retrieval.encoders import get
from retrieval.encoders.transformer import TransformerEncoder
from retrieval.product import Floats, unit


class Encoder:
    """`SentenceTransformer.encode` with MiniLM."""

    def __init__(self) -> None:
        from sentence_transformers import SentenceTransformer

        minilm = get("minilm")
        assert isinstance(minilm, TransformerEncoder)
        self.model = SentenceTransformer(str(minilm.folder))

    def encode(self, texts: Sequence[str]) -> Floats:
        return unit(np.array(self.model.encode(list(texts)), dtype=np.float32))
