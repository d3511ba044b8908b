"""Jina's third embeddings by the class of transformers: a tiny model against a plain loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.encoders import find_encoder
from retrieval.encoders.dense.transformer import TransformerEncoder
from retrieval.encoders.registry import KNOWN
from tests.retrieval.encoders.conftest import SIZES
from tests.retrieval.encoders.test_current import save_tokenizer

TEXTS = ["sort a list", "def read_csv(path):\n    return open(path)", "x", "read " * 600]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from transformers import JinaEmbeddingsV3Config, JinaEmbeddingsV3Model

    torch.manual_seed(5)
    made = tmp_path_factory.mktemp("jina")
    size = save_tokenizer(made, framed=True)
    config = JinaEmbeddingsV3Config(
        vocab_size=size, pad_token_id=0, bos_token_id=1, eos_token_id=2, max_position_embeddings=600, **SIZES
    )
    JinaEmbeddingsV3Model(config).save_pretrained(made)
    return made


def test_vectors_are_the_mean_of_the_states_of_one_text_at_a_time(folder: Path) -> None:
    import torch
    from transformers import AutoTokenizer, JinaEmbeddingsV3Model

    found = find_encoder(f"jina-v3:{folder}")
    assert isinstance(found, TransformerEncoder) and found.dimension == 16
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model: Any = JinaEmbeddingsV3Model.from_pretrained(folder)
    model.eval()
    rows = []
    for text in TEXTS:
        ids = tokenizer(text.strip(), truncation=True, max_length=512, return_tensors="pt")
        with torch.inference_mode():
            state = model(**ids).last_hidden_state[0].mean(dim=0).numpy()
        rows.append(state / np.linalg.norm(state))
    assert np.abs(found.encode(TEXTS, "snippet") - np.vstack(rows)).max() < 1e-5


def test_its_licence_is_told() -> None:
    assert KNOWN["jina-v3"].licence.startswith("CC-BY-NC-4.0")
    assert "not for commercial use" in KNOWN["jina-v3"].caution
