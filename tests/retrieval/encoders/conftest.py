"""Tiny models of every architecture with random weights, saved the way the real ones are published."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

SPECIAL = {
    "roberta": ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "<encoder-only>"],
    "codet5p": ["<pad>", "<s>", "</s>", "<unk>", "<mask>"],
}
CORPUS = ["def read_csv(path):\n    return open(path)", "how to sort a list in python", "x = [1, 2, 3]"]
SIZES: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
}


def save_byte_pairs(folder: Path, special: Sequence[str]) -> int:
    """Train a byte-pair tokenizer on a few lines; return its number of tokens."""
    from tokenizers import ByteLevelBPETokenizer

    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(CORPUS, vocab_size=330, min_frequency=1, special_tokens=list(special))
    tokenizer.save_model(str(folder))
    return int(tokenizer.get_vocab_size())


def save_roberta(folder: Path) -> None:
    """CodeBERT's and UniXcoder's shape."""
    from transformers import RobertaConfig, RobertaModel

    size = save_byte_pairs(folder, SPECIAL["roberta"])
    config = RobertaConfig(
        vocab_size=size, max_position_embeddings=300, pad_token_id=1, type_vocab_size=1, **SIZES
    )
    RobertaModel(config).save_pretrained(folder)


def save_bert(folder: Path, positions: int = 300) -> None:
    """MiniLM's shape."""
    from transformers import BertConfig, BertModel

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz()_:=[]123,"]
    words += [f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz_123"]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    BertModel(BertConfig(vocab_size=len(words), max_position_embeddings=positions, **SIZES)).save_pretrained(
        folder
    )


def save_codet5p(folder: Path) -> None:
    """The published checkpoint's shape: its own model_type, and `proj` beside T5's encoder."""
    import torch
    from safetensors.torch import save_file
    from transformers import T5Config, T5EncoderModel

    size = save_byte_pairs(folder, SPECIAL["codet5p"])
    settings: dict[str, Any] = {
        "vocab_size": size,
        "d_model": 16,
        "d_kv": 8,
        "d_ff": 24,
        "num_layers": 2,
        "num_heads": 2,
    }
    settings |= {"pad_token_id": 0, "feed_forward_proj": "relu", "dropout_rate": 0.1}
    tensors = dict(T5EncoderModel(T5Config(**settings)).state_dict())
    tensors["proj.weight"], tensors["proj.bias"] = torch.randn(6, 16), torch.randn(6)
    tensors.pop("encoder.embed_tokens.weight", None)
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, folder / "model.safetensors")
    published = settings | {
        "model_type": "codet5p_embedding",
        "embed_dim": 6,
        "architectures": ["CodeT5pEmbeddingModel"],
        "auto_map": {"AutoModel": "modeling_codet5p_embedding.CodeT5pEmbeddingModel"},
    }
    (folder / "config.json").write_text(json.dumps(published))


SAVERS: dict[str, Callable[[Path], None]] = {
    "minilm": save_bert,
    "codebert": save_roberta,
    "unixcoder": save_roberta,
    "codet5p": save_codet5p,
}


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder with a tiny model for each transformer encoder's name."""
    import torch

    torch.manual_seed(20240612)
    folders = {kind: tmp_path_factory.mktemp(kind) for kind in SAVERS}
    for kind, folder in folders.items():
        SAVERS[kind](folder)
    return folders
