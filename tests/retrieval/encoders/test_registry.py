"""Encoders of the registry run as their own files say, and files that say otherwise are noticed."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command

from retrieval.encoders import find_encoder, why_missing
from retrieval.encoders.dense.model_card import (
    OtherConfiguration,
    find_declaration_faults,
    find_declaration_warnings,
    read_model_declaration,
)
from retrieval.encoders.dense.transformer import TransformerEncoder
from retrieval.encoders.registry import CURRENT, KNOWN, NATIVE, OF_THE_PAPER
from tests.retrieval.encoders.conftest import save_bert

TEXTS = ["sort a list", "def f(a):\n    return [a]\n", "x", "open files " * 90]


@pytest.fixture(scope="module")
def mean_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT saved as sentence-transformers does, with a dense layer after the pooling as Gemma has."""
    return saved(tmp_path_factory.mktemp("mean"), "mean", dense=True)


def saved(folder: Path, pooling: str, dense: bool = False, prompts: dict[str, str] | None = None) -> Path:
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer

    torch.manual_seed(3)
    plain = folder / "plain"
    plain.mkdir(parents=True)
    save_bert(plain, positions=600)
    first = Transformer(str(plain), max_seq_length=512)
    steps: list[Any] = [first, Pooling(16, pooling_mode=pooling)]
    steps += [Dense(16, 6, bias=False, activation_function=torch.nn.Identity())] if dense else []
    whole = SentenceTransformer(modules=[*steps, Normalize()], prompts=prompts, device="cpu")
    whole.save(str(folder / "whole"), create_model_card=False)
    return folder / "whole"


def encoder(kind: str, folder: Path) -> TransformerEncoder:
    found = find_encoder(f"{kind}:{folder}")
    assert isinstance(found, TransformerEncoder)
    return found


def test_every_known_encoder_has_a_name_and_a_cut() -> None:
    for name, known in KNOWN.items():
        assert isinstance(find_encoder(name), TransformerEncoder)
        assert set(known.lengths) == set(known.prefixes) == {"query", "snippet"}
    assert set(OF_THE_PAPER) | set(CURRENT) | set(NATIVE) == set(KNOWN)


@pytest.mark.parametrize("kind", ["e5", "embeddinggemma"])
def test_vectors_are_those_of_sentence_transformers(kind: str, mean_model: Path) -> None:
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(mean_model), device="cpu", local_files_only=True)
    ours = encoder(kind, mean_model)
    assert ours.dimension == 6
    for text_kind, prefix in CURRENT[kind].prefixes.items():
        theirs.max_seq_length = CURRENT[kind].lengths[text_kind]
        wanted = theirs.encode([prefix + text.strip() for text in TEXTS], normalize_embeddings=True)
        found = ours.encode(TEXTS, text_kind)
        assert np.abs(found - wanted).max() < 1e-5
        alone = np.vstack([ours.encode([text], text_kind) for text in TEXTS])
        assert np.abs(found - alone).max() < 1e-5


def test_another_pooling_is_refused(tmp_path: Path) -> None:
    folder = saved(tmp_path, "cls")
    with pytest.raises(OtherConfiguration, match="pool by cls, not by mean"):
        encoder("e5", folder).encode(["x"], "query")
    assert "pool by cls" in (why_missing(f"e5:{folder}") or "")
    assert why_missing(f"gte-modernbert:{folder}") is None


def test_a_model_that_takes_fewer_tokens_than_texts_are_cut_at_is_refused(
    mean_model: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "short"
    shutil.copytree(mean_model, folder)
    about = json.loads((folder / "sentence_bert_config.json").read_text())
    (folder / "sentence_bert_config.json").write_text(json.dumps({**about, "max_seq_length": 128}))
    with pytest.raises(OtherConfiguration, match="takes 128 tokens, but texts are cut at 512"):
        encoder("e5", folder).locate()


def test_a_folder_without_the_steps_is_refused(tiny_models: dict[str, Path]) -> None:
    with pytest.raises(OtherConfiguration, match="names no pooling"):
        encoder("e5", tiny_models["minilm"]).locate()


def test_other_prompts_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = saved(tmp_path, "mean", prompts={"query": "ask: ", "document": "passage: "})
    with caplog.at_level(logging.WARNING):
        encoder("e5", folder).encode(["x"], "query")
    assert "its files begin a query with 'ask: ', here it begins with 'query: '" in caplog.text
    assert "begin a snippet" not in caplog.text


def test_an_instruction_is_ours_to_choose() -> None:
    known = KNOWN["qwen3-embedding"]
    found = read_model_declaration(Path("/nowhere"))
    assert not list(find_declaration_faults(known, found)) and not list(
        find_declaration_warnings(known, found)
    )


def test_the_old_and_the_new_way_to_name_a_pooling(tmp_path: Path) -> None:
    (tmp_path / "1_Pooling").mkdir()
    step = {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}
    (tmp_path / "modules.json").write_text(json.dumps([step]))
    for written in (
        {"word_embedding_dimension": 8, "pooling_mode_lasttoken": True, "pooling_mode_cls_token": False},
        {"embedding_dimension": 8, "pooling_mode": "lasttoken"},
    ):
        (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(written))
        assert (read_model_declaration(tmp_path).pooling, read_model_declaration(tmp_path).dimension) == (
            "lasttoken",
            8,
        )
    (tmp_path / "1_Pooling" / "config.json").write_text("{")
    with pytest.raises(OtherConfiguration, match="is no JSON"):
        read_model_declaration(tmp_path)


@pytest.mark.django_db
def test_the_list_tells_licence_and_training_data(
    capsys: pytest.CaptureFixture[str], mean_model: Path
) -> None:
    call_command("encoders", "jina-code", "bm25", f"e5:{mean_model}")
    told = capsys.readouterr().out
    assert "CC-BY-NC-4.0" in told and "trained on: CoSQA+ and others (has seen" in told
    assert "6 dimensions, not 768" in told and "here: yes" in told
    call_command("encoders", json=True)
    rows = json.loads(capsys.readouterr().out)
    assert {"minilm", "bm25", *CURRENT} <= {row["name"] for row in rows}
