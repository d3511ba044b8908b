"""What a model's files declare is what is done: tiny models, against sentence-transformers' own encode."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.encoders import Kind, MissingWeights
from retrieval.encoders.dense.spec_encoder import SpecifiedEncoder
from retrieval.encoders.dense.specs import Spec
from tests.retrieval.encoders.conftest import SIZES, save_bert

TEXTS = ["sort a list", "def read_csv(path):\n    return [1, 2, 3]", "x", "Read CSV " * 9, "a, b"]
PROMPTS = {"query": "find: ", "document": "code: "}
Make = Callable[[Path], Any]


def transformer(folder: Path, **options: Any) -> Any:
    from sentence_transformers.base.modules import Transformer

    folder.mkdir(exist_ok=True)
    save_bert(folder)
    return Transformer(str(folder), **{"max_seq_length": 200, **options})


def steps(*modes: str, after: Callable[[], list[Any]] = list, asked: Any = None, **pooling: Any) -> Make:
    """A transformer, a pooling, and what comes after it; `asked` are options of the transformer."""

    def make(folder: Path) -> Any:
        from sentence_transformers.sentence_transformer.modules import Pooling

        pooled = Pooling(SIZES["hidden_size"], pooling_mode=modes[0] if len(modes) == 1 else modes, **pooling)
        return [transformer(folder / "plain", **(asked or {})), pooled, *after()]

    return make


def dense_and_normalised() -> list[Any]:
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize

    return [Dense(SIZES["hidden_size"], 6), Normalize()]


def routed(folder: Path) -> Any:
    """Queries by words alone, what is searched by a transformer."""
    from sentence_transformers.base.modules import Router
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    whole = steps("mean")(folder)
    words = StaticEmbedding(whole[0].tokenizer.backend_tokenizer, embedding_dim=SIZES["hidden_size"])
    return [Router.for_query_document(query_modules=[words], document_modules=whole)]


MODELS: dict[str, tuple[Make, dict[str, Any]]] = {
    "cls": (steps("cls"), {}),
    "mean": (steps("mean"), {}),
    "max": (steps("max"), {}),
    "last token": (steps("lasttoken"), {}),
    "weighted mean": (steps("weightedmean"), {}),
    "mean by the root of the length": (steps("mean_sqrt_len_tokens"), {}),
    "two poolings side by side": (steps("cls", "max"), {}),
    "dense and normalised": (steps("mean", after=dense_and_normalised), {}),
    "few numbers kept": (steps("mean"), {"truncate_dim": 8}),
    "prompts": (steps("mean"), {"prompts": PROMPTS}),
    "prompts that are not pooled": (steps("mean", include_prompt=False), {"prompts": PROMPTS}),
    "a prompt of all texts": (steps("mean"), {"prompts": {"all": "text: "}, "default_prompt_name": "all"}),
    "short texts": (steps("mean", asked={"max_seq_length": 9}), {}),
    "lower case": (steps("mean", asked={"do_lower_case": True}), {}),
    "routes": (routed, {}),
}


def saved(name: str, folder: Path) -> Any:
    import torch
    from sentence_transformers import SentenceTransformer

    torch.manual_seed(11)
    make, options = MODELS[name]
    whole = SentenceTransformer(modules=make(folder), device="cpu", **options)
    whole.save(str(folder / "whole"), create_model_card=False)
    return SentenceTransformer(str(folder / "whole"), device="cpu", local_files_only=True)


def encoder(folder: Path, **told: Any) -> SpecifiedEncoder:
    given = {"pooling": "declared", "query_max_tokens": 250, "passage_max_tokens": 250, **told}
    return SpecifiedEncoder.of(Spec(name="mine", folder=str(folder / "whole"), **given))


@pytest.mark.parametrize("name", MODELS)
def test_vectors_are_those_of_sentence_transformers_itself(name: str, tmp_path: Path) -> None:
    own, one = saved(name, tmp_path), encoder(tmp_path)
    shared = "all" if name == "a prompt of all texts" else None
    ways: list[tuple[Kind, Any]] = [("query", own.encode_query), ("snippet", own.encode_document)]
    for kind, encode in ways:
        wanted = encode(TEXTS, prompt_name=shared, normalize_embeddings=True)
        found = one.encode(TEXTS, kind)
        assert found.shape == wanted.shape == (len(TEXTS), one.dimension)
        assert np.abs(found - wanted).max() < 1e-5
        assert np.abs(one.encode(TEXTS[1:2], kind) - wanted[1:2]).max() < 1e-5


def test_what_the_files_declare_is_part_of_the_identity(tmp_path: Path) -> None:
    saved("prompts that are not pooled", tmp_path)
    config = tmp_path / "whole" / "config_sentence_transformers.json"
    declared = json.loads(config.read_text("utf-8"))
    before = encoder(tmp_path).identity
    others = [{**declared, "truncate_dim": 8}, {**declared, "prompts": {"query": "other: "}}]
    for other in others:
        config.write_text(json.dumps(other), encoding="utf-8")
        assert encoder(tmp_path).identity != before
    assert "kept" not in before


def test_a_prefix_that_is_given_is_used_in_the_place_of_the_prompt(tmp_path: Path) -> None:
    own, one = saved("prompts", tmp_path), encoder(tmp_path, query_prefix="", passage_prefix="other: ")
    assert (
        np.abs(one.encode(TEXTS, "query") - own.encode(TEXTS, prompt="", normalize_embeddings=True)).max()
        < 1e-5
    )
    wanted = own.encode(TEXTS, prompt="other: ", normalize_embeddings=True)
    assert np.abs(one.encode(TEXTS, "snippet") - wanted).max() < 1e-5


def test_a_spec_that_does_otherwise_than_the_files_is_warned(tmp_path: Path) -> None:
    saved("prompts that are not pooled", tmp_path)
    config = tmp_path / "whole" / "config_sentence_transformers.json"
    config.write_text(
        json.dumps({**json.loads(config.read_text("utf-8")), "truncate_dim": 8}), encoding="utf-8"
    )
    said = "; ".join(encoder(tmp_path, pooling="cls", query_prefix="find: ").warnings())
    assert "its files pool by mean, the spec by cls" in said
    assert "leave the prompt out of the pooling" in said
    assert "keep 8 numbers of a vector" in said
    assert "begin a snippet with 'code: ', the spec with ''" in said
    assert encoder(tmp_path).warnings() == []


def test_a_module_that_is_not_of_sentence_transformers_is_refused(tmp_path: Path) -> None:
    saved("mean", tmp_path)
    modules = tmp_path / "whole" / "modules.json"
    listed = json.loads(modules.read_text("utf-8"))
    listed.append({"idx": 2, "name": "2", "path": "2_Own", "type": "modeling_own.Own"})
    modules.write_text(json.dumps(listed), encoding="utf-8")
    with pytest.raises(MissingWeights, match="can't load what is in"):
        encoder(tmp_path).encode(["x"], "query")
