"""Tiny models of each current architecture, against plain loops over one text at a time.

Those that take the last token's state are the risky ones: texts are padded on the right here, whatever side
the model's tokenizer names, and the padding token may be the one that ends every text.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.encoders import Floats, find_encoder
from retrieval.encoders.dense.transformer import TransformerEncoder
from retrieval.encoders.registry import CURRENT
from tests.retrieval.encoders.conftest import CORPUS, SIZES, save_bert

TEXTS = [
    "sort a list",
    "def read_csv(path):\n    return open(path)",
    "x",
    "",
    *(f"how to sort list number {i} " + "in python " * i for i in range(27)),
    "read " * 600,
]
DECODER = {**SIZES, "num_key_value_heads": 1, "head_dim": 8, "max_position_embeddings": 600}


@dataclass(frozen=True)
class Tiny:
    """Names in the registry, the transformers class of the model, its configuration, and what follows it."""

    kinds: Sequence[str]
    model: str
    config: str
    pooling: str
    framed: bool = False
    dense: bool = False
    options: Any = None


TINY = {
    "modernbert": Tiny(
        ("gte-modernbert",),
        "ModernBertModel",
        "ModernBertConfig",
        "cls",
        framed=True,
        options={**SIZES, "max_position_embeddings": 600, "local_attention": 8},
    ),
    "qwen3": Tiny(("qwen3-embedding",), "Qwen3Model", "Qwen3Config", "lasttoken", options=DECODER),
    "qwen2": Tiny(("bge-code", "jina-code"), "Qwen2Model", "Qwen2Config", "lasttoken", options=DECODER),
    "gemma": Tiny(
        ("embeddinggemma",),
        "Gemma3TextModel",
        "Gemma3TextConfig",
        "mean",
        framed=True,
        dense=True,
        options={**DECODER, "use_bidirectional_attention": True, "sliding_window": 8},
    ),
}
PLACES = [(architecture, kind) for architecture, tiny in TINY.items() for kind in tiny.kinds]


def save_tokenizer(folder: Path, framed: bool) -> int:
    """Byte pairs with what ends a text, and begins it where `framed`; unframed, pads are ends as in Qwen3."""
    from tokenizers import ByteLevelBPETokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    tokenizer = ByteLevelBPETokenizer()
    special = ["<pad>", "<s>", "</s>"]
    tokenizer.train_from_iterator(CORPUS, vocab_size=330, min_frequency=1, special_tokens=special)
    ends = [("<s>", 1), ("</s>", 2)]
    single = "<s> $A </s>" if framed else "$A </s>"
    tokenizer._tokenizer.post_processor = TemplateProcessing(single=single, special_tokens=ends)
    fast: Any = PreTrainedTokenizerFast
    fast(
        tokenizer_object=tokenizer._tokenizer,
        pad_token="<pad>" if framed else "</s>",
        eos_token="</s>",
        padding_side="right" if framed else "left",
    ).save_pretrained(folder)
    return int(tokenizer.get_vocab_size())


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each architecture in a folder as sentence-transformers publishes it."""
    import torch
    import transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer

    torch.manual_seed(20260101)
    folders = dict[str, Path]()
    for name, tiny in TINY.items():
        plain = tmp_path_factory.mktemp(name)
        size = save_tokenizer(plain, tiny.framed)
        ids = {"pad_token_id": 0 if tiny.framed else 2, "bos_token_id": 1, "eos_token_id": 2}
        config = getattr(transformers, tiny.config)(vocab_size=size, **ids, **tiny.options)
        model = getattr(transformers, tiny.model)(config)
        model.get_input_embeddings().weight.data.normal_()  # a pad's would be 0, which a real end's is not
        model.save_pretrained(plain)
        steps: list[Any] = [
            Transformer(str(plain), max_seq_length=600),
            Pooling(16, pooling_mode=tiny.pooling),
        ]
        if tiny.dense:
            steps.append(Dense(16, 6, bias=False, activation_function=torch.nn.Identity()))
        folders[name] = plain / "whole"
        whole = SentenceTransformer(modules=[*steps, Normalize()], device="cpu")
        whole.save(str(folders[name]), create_model_card=False)
    return folders


def encoder(kind: str, folder: Path) -> TransformerEncoder:
    found = find_encoder(f"{kind}:{folder}")
    assert isinstance(found, TransformerEncoder)
    return found


def plain_loop(tiny: Tiny, folder: Path, texts: Sequence[str], limit: int) -> Floats:
    """One text at a time through the transformer alone, without padding; pooled by hand."""
    import torch
    import transformers
    from safetensors.torch import load_file

    tokenizer: Any = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
    model = getattr(transformers, tiny.model).from_pretrained(folder, dtype=torch.float32).eval()
    vectors = []
    for text in texts:
        inputs = tokenizer(text, truncation=True, max_length=limit, return_tensors="pt")
        with torch.no_grad():
            states = model(**inputs).last_hidden_state[0]
        pooled = {"cls": states[0], "lasttoken": states[-1], "mean": states.mean(dim=0)}[tiny.pooling]
        if tiny.dense:
            pooled = load_file(folder / "2_Dense" / "model.safetensors")["linear.weight"] @ pooled
        vectors.append((pooled / pooled.norm()).numpy())
    return np.array(vectors, dtype=np.float32)


def test_every_current_pooling_and_architecture_is_tried() -> None:
    tried = {kind for _, kind in PLACES}
    assert {known.pooling for known in CURRENT.values()} == {"cls", "lasttoken", "mean"}
    assert {CURRENT[kind].pooling for kind in tried} == {"cls", "lasttoken", "mean"}


@pytest.mark.parametrize(("architecture", "kind"), PLACES)
def test_vectors_equal_a_plain_loop_in_a_batch_of_32_and_alone(
    architecture: str, kind: str, saved: dict[str, Path]
) -> None:
    known, folder, tiny = CURRENT[kind], saved[architecture], TINY[architecture]
    one = encoder(kind, folder)
    for side, prefix in known.prefixes.items():
        together = one.encode(TEXTS, side)
        prefixed = [prefix + text.strip() for text in TEXTS]
        wanted = plain_loop(tiny, folder, prefixed, known.lengths[side])
        assert together.shape == wanted.shape == (32, 6 if tiny.dense else 16)
        assert np.abs(together - wanted).max() < 1e-5
        alone = np.vstack([one.encode([text], side) for text in TEXTS])
        assert np.abs(together - alone).max() < 1e-5


@pytest.mark.parametrize("pooling", ["cls", "lasttoken"])
def test_a_berts_first_and_last_token_do_not_see_the_padding(pooling: str, tmp_path: Path) -> None:
    """Attention both ways: padding that is not masked would change every state."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from transformers import BertModel, BertTokenizer

    torch.manual_seed(5)
    save_bert(tmp_path, positions=600)
    steps = [Transformer(str(tmp_path), max_seq_length=512), Pooling(16, pooling_mode=pooling), Normalize()]
    SentenceTransformer(modules=steps, device="cpu").save(str(tmp_path / "whole"), create_model_card=False)
    kind = "granite-small-r2" if pooling == "cls" else "jina-code"
    found = encoder(kind, tmp_path / "whole").encode(TEXTS, "snippet")
    tokenizer = BertTokenizer.from_pretrained(tmp_path)
    model: Any = BertModel.from_pretrained(tmp_path)
    model.eval()
    prefix = CURRENT[kind].prefixes["snippet"]
    for text, vector in zip(TEXTS, found, strict=True):
        inputs = tokenizer(prefix + text.strip(), truncation=True, max_length=512, return_tensors="pt")
        with torch.no_grad():
            states = model(**inputs).last_hidden_state[0]
        state = states[0 if pooling == "cls" else -1]
        assert np.abs(vector - (state / state.norm()).numpy()).max() < 1e-5


@pytest.mark.parametrize(
    ("file", "declared"),
    [
        ("config_sentence_transformers.json", {"truncate_dim": 8}),
        ("sentence_bert_config.json", {"do_lower_case": True}),
        ("1_Pooling/config.json", {"include_prompt": False}),
        ("config.json", {"layer_norm_eps": 0.5}),
        ("tokenizer.model", {"other": True}),
        ("dense/config.json", {}),
    ],
)
def test_all_that_the_files_declare_is_part_of_the_identity(
    saved: dict[str, Path], tmp_path: Path, file: str, declared: dict[str, Any]
) -> None:
    """Also a step whose folder has no number, and the pieces of a tokenizer that has no other file."""
    architecture, kind = PLACES[0]
    shutil.copytree(saved[architecture], tmp_path / "whole")
    path = tmp_path / "whole" / file
    if file == "tokenizer.model":
        (tmp_path / "whole" / "tokenizer.json").unlink()
        path.write_text("{}", encoding="utf-8")
    if file == "dense/config.json":
        path.parent.mkdir()
        steps = json.loads((tmp_path / "whole" / "modules.json").read_text("utf-8"))
        dense = {
            "idx": len(steps),
            "name": "x",
            "path": "dense",
            "type": "sentence_transformers.models.Dense",
        }
        (tmp_path / "whole" / "modules.json").write_text(json.dumps([*steps, dense]), encoding="utf-8")
    before = encoder(kind, tmp_path / "whole").identity
    told = json.loads(path.read_text("utf-8")) if path.is_file() else {"new": True}
    path.write_text(json.dumps({**told, **declared}), encoding="utf-8")
    assert encoder(kind, tmp_path / "whole").identity != before
