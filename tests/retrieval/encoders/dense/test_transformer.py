"""The transformer encoders on tiny models, against plain loops written as the authors' scripts are."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.encoders import Floats, Kind, MissingWeights, find_encoder, why_missing
from retrieval.encoders.dense.transformer import TransformerEncoder, batch_by_length, collapse_whitespace

KINDS = ("minilm", "codebert", "unixcoder", "codet5p")
TEXTS = [
    "sort a list",
    "def read_csv(path):\n    return open(path)",
    "",
    "x",
    "\n\n  def   f(a,\tb):\n\n    return [a, b]  ",
    *(f"how to sort list number {i} " + "in python " * i for i in range(27)),
    "read " * 400,
]


def encoder_of(kind: str, folder: Path) -> TransformerEncoder:
    encoder = find_encoder(f"{kind}:{folder}")
    assert isinstance(encoder, TransformerEncoder)
    return encoder


def unit(vector: Any) -> Floats:
    vector = vector.detach().numpy().astype(np.float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def ready(model: Any) -> Any:
    return model.eval()


def plain_minilm(folder: Path, text: str, limit: int) -> Floats:
    import torch
    from transformers import BertModel, BertTokenizer

    tokenizer, model = BertTokenizer.from_pretrained(folder), ready(BertModel.from_pretrained(folder))
    inputs = tokenizer(text, truncation=True, max_length=limit, return_tensors="pt")
    with torch.no_grad():
        return unit(model(**inputs).last_hidden_state[0].mean(dim=0))


def plain_codebert(folder: Path, text: str, limit: int) -> Floats:
    import torch
    from transformers import RobertaModel, RobertaTokenizer

    tokenizer, model = RobertaTokenizer.from_pretrained(folder), ready(RobertaModel.from_pretrained(folder))
    words = tokenizer.tokenize(" ".join(text.split()))[: limit - 2]
    ids = tokenizer.convert_tokens_to_ids([tokenizer.cls_token, *words, tokenizer.sep_token])
    padded = torch.tensor([ids + [tokenizer.pad_token_id] * (limit - len(ids))])
    with torch.no_grad():
        return unit(model(padded, attention_mask=padded.ne(1))[1][0])


def plain_unixcoder(folder: Path, text: str, limit: int) -> Floats:
    import torch
    from transformers import RobertaModel, RobertaTokenizer

    tokenizer, model = RobertaTokenizer.from_pretrained(folder), ready(RobertaModel.from_pretrained(folder))
    words = tokenizer.tokenize(" ".join(text.split()))[: limit - 4]
    frame = [tokenizer.cls_token, "<encoder-only>", tokenizer.sep_token, *words, tokenizer.sep_token]
    ids = tokenizer.convert_tokens_to_ids(frame)
    padded = torch.tensor([ids + [tokenizer.pad_token_id] * (limit - len(ids))])
    mask = padded.ne(1)
    with torch.no_grad():
        states = model(padded, attention_mask=mask)[0]
        return unit(((states * mask[:, :, None]).sum(1) / mask.sum(-1)[:, None])[0])


def plain_codet5p(folder: Path, text: str, limit: int, mask: bool = True) -> Floats:
    import json

    import torch
    from safetensors.torch import load_file
    from transformers import RobertaTokenizer, T5Config, T5EncoderModel

    settings = json.loads((folder / "config.json").read_text())
    tensors = load_file(folder / "model.safetensors")
    settings = {
        key: value
        for key, value in settings.items()
        if key not in ("auto_map", "architectures", "model_type")
    }
    model = ready(T5EncoderModel(T5Config(**settings)))
    model.load_state_dict({k: v for k, v in tensors.items() if not k.startswith("proj")}, strict=False)
    tokenizer = RobertaTokenizer.from_pretrained(folder)
    ids = tokenizer.encode(" ".join(text.split()))[:limit]
    padded = torch.tensor([ids + [0] * (limit - len(ids))])
    with torch.no_grad():
        states = model(padded, attention_mask=padded.ne(0) if mask else None).last_hidden_state
        return unit(states[0, 0] @ tensors["proj.weight"].T + tensors["proj.bias"])


PLAIN = {
    "minilm": (plain_minilm, 256, 256),
    "codebert": (plain_codebert, 128, 256),
    "unixcoder": (plain_unixcoder, 128, 256),
    "codet5p": (plain_codet5p, 64, 360),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_alone_equals_the_text_in_a_batch(kind: str, tiny_models: dict[str, Path]) -> None:
    encoder = encoder_of(kind, tiny_models[kind])
    together = encoder.encode(TEXTS, "snippet")
    alone = np.vstack([encoder.encode([text], "snippet") for text in TEXTS])
    assert together.shape == (len(TEXTS), encoder.dimension)
    assert together.dtype == np.float32
    assert np.abs(together - alone).max() < 1e-5
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("side", ["query", "snippet"])
@pytest.mark.parametrize("text", [TEXTS[1], TEXTS[4], TEXTS[-1]])
def test_vectors_equal_a_plain_loop(kind: str, side: Kind, text: str, tiny_models: dict[str, Path]) -> None:
    plain, query_length, snippet_length = PLAIN[kind]
    expected = plain(tiny_models[kind], text, query_length if side == "query" else snippet_length)
    found = encoder_of(kind, tiny_models[kind]).encode([text], side)[0]
    assert np.abs(found - expected).max() < 1e-5


def test_unmasked_codet5p_attends_to_padding(tiny_models: dict[str, Path]) -> None:
    folder = tiny_models["codet5p"]
    unmasked, masked = find_encoder(f"codet5p-unmasked:{folder}"), encoder_of("codet5p", folder)
    assert isinstance(unmasked, TransformerEncoder)
    found = unmasked.encode(["sort a list", "x"], "query")
    assert np.abs(found[0] - plain_codet5p(folder, "sort a list", 64, mask=False)).max() < 1e-5
    assert np.abs(found - masked.encode(["sort a list", "x"], "query")).max() > 1e-3
    assert unmasked.identity != masked.identity


def test_no_texts_give_no_vectors(tiny_models: dict[str, Path]) -> None:
    assert encoder_of("codet5p", tiny_models["codet5p"]).encode([], "query").shape == (0, 6)


def test_text_that_utf8_cannot_hold_is_encoded(tiny_models: dict[str, Path]) -> None:
    assert np.isfinite(encoder_of("codebert", tiny_models["codebert"]).encode(["a \ud800 b"], "query")).all()
    assert collapse_whitespace(" a \ud800\n\tb ") == "a ? b"


def test_identity_follows_the_weights_not_the_folder(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    original = encoder_of("minilm", tiny_models["minilm"])
    copy = Path(shutil.copytree(tiny_models["minilm"], tmp_path / "copy"))
    assert encoder_of("minilm", copy).identity == original.identity
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\1")
    assert encoder_of("minilm", copy).identity != original.identity


def test_progress_counts_texts(tiny_models: dict[str, Path]) -> None:
    seen: list[tuple[int, int]] = []
    encoder_of("minilm", tiny_models["minilm"]).encode(TEXTS, "query", lambda *step: seen.append(step))
    assert seen[-1] == (len(TEXTS), len(TEXTS))
    assert seen == sorted(seen)


@given(lengths=st.lists(st.integers(1, 50), max_size=60), budget=st.integers(1, 200))
def test_batches_hold_every_text_once_within_the_budget(lengths: list[int], budget: int) -> None:
    groups = list(batch_by_length(lengths, budget))
    assert sorted(index for group in groups for index in group) == list(range(len(lengths)))
    assert all(len(g) == 1 or max(lengths[i] for i in g) * len(g) <= budget for g in groups)


@pytest.mark.parametrize(
    ("kind", "lost", "message"),
    [
        ("codebert", "model.safetensors", "model.safetensors or pytorch_model.bin .*is missing"),
        ("codebert", "config.json", "config.json is missing"),
        ("unixcoder", "merges.txt", r"tokenizer.json or vocab.json \+ merges.txt is missing"),
        ("minilm", "vocab.txt", "tokenizer.json or vocab.txt is missing"),
    ],
)
def test_a_missing_file_is_named(
    kind: str, lost: str, message: str, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(tiny_models[kind], tmp_path / "copy"))
    (folder / lost).unlink()
    with pytest.raises(MissingWeights, match=f"{message} in .*; copy it there, or get it with: hf download"):
        encoder_of(kind, folder).encode(["x"], "query")


def test_weights_with_gaps_are_refused(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = Path(shutil.copytree(tiny_models["codet5p"], tmp_path / "copy"))
    tensors = load_file(folder / "model.safetensors")
    del tensors["proj.weight"]
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(MissingWeights, match=r"lack proj\.weight"):
        encoder_of("codet5p", folder).encode(["x"], "query")


def test_a_tokenizer_without_the_mode_token_is_refused(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_models["unixcoder"], tmp_path / "copy"))
    vocabulary = folder / "vocab.json"
    vocabulary.write_text(vocabulary.read_text().replace("<encoder-only>", "<other>"))
    with pytest.raises(MissingWeights, match="not UniXcoder's files"):
        encoder_of("unixcoder", folder).encode(["x"], "query")


def test_a_hub_model_that_is_not_here_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    for name in ("codebert:nobody/nothing@v2", "unixcoder:nobody/nothing"):
        assert "get them with: hf download nobody/nothing" in (why_missing(name) or "")
    assert "--revision v2" in (why_missing("codebert:nobody/nothing@v2") or "")
    assert "is not a folder" in (why_missing("codebert:/no/such/folder") or "")
    assert "neither a folder nor the id" in (why_missing("codebert:a b c") or "")


def test_naming_encoders_does_not_import_torch() -> None:
    code = (
        "import sys; import retrieval.index\n"
        "from retrieval.encoders import NAMES, find_encoder, why_missing\n"
        "[(find_encoder(name), why_missing(name)) for name in NAMES]\n"
        "sys.exit(sum(m in sys.modules for m in ('torch', 'transformers', 'faiss')))"
    )
    root = Path(__file__).resolve().parents[4]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0
