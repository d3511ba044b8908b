"""A tiny cross-encoder with random weights, saved the way sentence-transformers publishes one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.retrieval.encoders.conftest import SIZES, save_bert


def save_cross_encoder(folder: Path, labels: int = 1) -> None:
    """BERT with one score a pair, unless it is to have more."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    torch.manual_seed(79)
    save_bert(folder)
    tokenizer = BertTokenizer(str(folder / "vocab.txt"))
    tokenizer.save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(tokenizer), max_position_embeddings=64, **{"num_labels": labels, **SIZES}
    )
    model = BertForSequenceClassification(config)
    torch.nn.init.normal_(model.classifier.weight, std=1.0)
    model.save_pretrained(folder)


@pytest.fixture(scope="session")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one."""
    folder = tmp_path_factory.mktemp("cross")
    save_cross_encoder(folder)
    return folder


@pytest.fixture(scope="session")
def plain_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a BERT that was never trained to score pairs."""
    folder = tmp_path_factory.mktemp("plain")
    save_bert(folder)
    return folder
