"""CodeBERT tuned on CodeSearchNet, from a folder of transformers or from the state that a script saved."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.encoders import MissingWeights, find_encoder, why_missing
from retrieval.encoders.dense.architectures import find_wrapper_prefix
from retrieval.encoders.dense.transformer import TransformerEncoder

TEXTS = ["sort a list", "def read_csv(path):\n    return open(path)"]


def encoder(name: str, folder: Path) -> TransformerEncoder:
    found = find_encoder(f"{name}:{folder}")
    assert isinstance(found, TransformerEncoder)
    return found


@pytest.fixture
def authors(tiny_models: dict[str, Path], tmp_path: Path) -> Path:
    """A folder as research scripts leave it: the tensors of a wrapper's encoder in `model.bin`."""
    import torch
    from safetensors.torch import load_file

    folder = Path(shutil.copytree(tiny_models["codebert"], tmp_path / "authors"))
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    wrapped = {f"module.encoder.{name}": tensor for name, tensor in tensors.items()}
    wrapped["module.encoder.embeddings.position_ids"] = torch.arange(300)[None]
    torch.save(wrapped, folder / "model.bin")
    return folder


def test_a_folder_of_transformers_gives_the_vectors_of_codebert(tiny_models: dict[str, Path]) -> None:
    folder = tiny_models["codebert"]
    wanted = encoder("codebert", folder).encode(TEXTS, "query")
    assert np.array_equal(encoder("codebert-csn", folder).encode(TEXTS, "query"), wanted)


def test_a_scripts_state_gives_the_same_vectors(tiny_models: dict[str, Path], authors: Path) -> None:
    wanted = encoder("codebert", tiny_models["codebert"]).encode(TEXTS, "query")
    found = encoder("codebert-csn", authors)
    assert why_missing(f"codebert-csn:{authors}") is None
    assert np.abs(found.encode(TEXTS, "query") - wanted).max() < 1e-6
    assert "weights=" in found.identity


def test_a_state_with_gaps_is_refused(authors: Path) -> None:
    import torch

    state = torch.load(authors / "model.bin", weights_only=True)
    del state["module.encoder.pooler.dense.weight"]
    torch.save(state, authors / "model.bin")
    with pytest.raises(MissingWeights, match=r"lack pooler\.dense\.weight and 0 more"):
        encoder("codebert-csn", authors).encode(TEXTS, "query")


class Hostile:
    """Pickled, it would run a command where it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


def test_a_file_that_would_run_code_is_refused_and_runs_nothing(authors: Path, tmp_path: Path) -> None:
    import torch

    mark = tmp_path / "ran"
    torch.save({"module.encoder.x": Hostile(mark)}, authors / "model.bin")
    with pytest.raises(MissingWeights, match="holds no weights of this model that can be read"):
        encoder("codebert-csn", authors).encode(TEXTS, "query")
    assert not mark.exists()


@pytest.mark.parametrize("content", [b"", b"no zip", [1, 2]])
def test_what_is_no_state_is_refused(content: Any, authors: Path) -> None:
    import torch

    if isinstance(content, bytes):
        (authors / "model.bin").write_bytes(content)
    else:
        torch.save(content, authors / "model.bin")
    with pytest.raises(MissingWeights, match="holds no weights"):
        encoder("codebert-csn", authors).encode(TEXTS, "query")


def test_codebert_itself_does_not_read_such_a_file(authors: Path) -> None:
    assert "model.safetensors or pytorch_model.bin" in (why_missing(f"codebert:{authors}") or "")


def test_without_a_folder_it_says_how_to_get_the_weights() -> None:
    told = why_missing("codebert-csn") or ""
    assert "cosqa train BENCHMARK --system codebert --out FOLDER" in told and "codebert-csn:FOLDER" in told


def test_the_prefix_is_that_under_which_most_tensors_have_a_place() -> None:
    own = ("embeddings.x", "encoder.layer.0", "pooler.y")
    assert find_wrapper_prefix([f"encoder.{name}" for name in own], own) == "encoder."
    assert find_wrapper_prefix([f"module.{name}" for name in own], own) == "module."
    assert find_wrapper_prefix(own, own) == ""
    assert find_wrapper_prefix(["other"], own) == ""


def test_untuned_codebert_warns_and_one_of_ones_own_does_not(
    tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TransformerEncoder, "_find", lambda self: tiny_models["codebert"])
    warned = TransformerEncoder("codebert").warnings()
    assert any("never tuned for search" in warning for warning in warned)
    own = TransformerEncoder("codebert", str(tiny_models["codebert"])).warnings()
    assert not any("never tuned for search" in warning for warning in own)
