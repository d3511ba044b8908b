"""A cross-encoder's scores are those of its own library, and another model is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from retrieval.encoders import MissingWeights
from retrieval.encoders.rerankers import find_reranker, why_reranker_missing
from retrieval.encoders.rerankers.cross_encoder import CrossEncoder
from tests.retrieval.encoders.rerankers.conftest import save_cross_encoder

CODES = ["def sort(x):\n    return sorted(x)", "x = [1, 2, 3]", "def read_csv(path): ..." * 40]


def test_scores_are_the_logits_of_the_model(cross_encoder: Path) -> None:
    """Against transformers itself, a pair at a time, the long one cut at the model's 64 positions."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(cross_encoder)
    model = AutoModelForSequenceClassification.from_pretrained(cross_encoder).eval()
    expected = []
    for code in CODES:
        ids = tokenizer("sort a list", code, truncation=True, max_length=64, return_tensors="pt")
        with torch.inference_mode():
            expected.append(float(model(**ids).logits[0, 0]))
    found = CrossEncoder(str(cross_encoder)).score_snippets("sort a list", CODES)
    assert found == pytest.approx(expected, abs=1e-5)
    assert len(set(found.tolist())) == len(CODES), "the texts decide"


def test_equal_texts_have_equal_scores_wherever_they_are_in_the_list(cross_encoder: Path) -> None:
    found = CrossEncoder(str(cross_encoder)).score_snippets("sort", [*CODES, *CODES * 15])
    assert np.array_equal(found[:3], found[-3:])


def test_no_snippets_have_no_scores(cross_encoder: Path) -> None:
    assert CrossEncoder(str(cross_encoder)).score_snippets("sort", []).shape == (0,)


def test_a_model_that_was_not_made_for_pairs_is_refused(plain_model: Path) -> None:
    with pytest.raises(MissingWeights, match="BertModel, and a cross-encoder is one that ends with"):
        CrossEncoder(str(plain_model)).score_snippets("sort", CODES)


def test_a_model_with_several_scores_a_pair_is_refused(tmp_path: Path) -> None:
    save_cross_encoder(tmp_path, labels=3)
    with pytest.raises(MissingWeights, match="has 3 scores a pair"):
        CrossEncoder(str(tmp_path)).score_snippets("sort", CODES)


def test_damaged_weights_are_refused(tmp_path: Path) -> None:
    save_cross_encoder(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"architectures": ["BertForSequenceClassification"]}))
    with pytest.raises(MissingWeights, match="can't load it"):
        CrossEncoder(str(tmp_path)).score_snippets("sort", CODES)


def test_the_identity_follows_the_weights_and_not_the_place(cross_encoder: Path, tmp_path: Path) -> None:
    copy, other = tmp_path / "copy", tmp_path / "other"
    for folder in (copy, other):
        folder.mkdir()
        for file in cross_encoder.iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
    (other / "config.json").write_text((other / "config.json").read_text() + "\n")
    first = CrossEncoder(str(cross_encoder)).identity
    assert first == CrossEncoder(str(copy)).identity != CrossEncoder(str(other)).identity


@pytest.mark.parametrize(
    "source", ["/no/such/folder", "no/such-model", "a\x00b", "~nobody-at-all/x", "x" * 5000]
)
def test_what_is_not_here_says_so(source: str) -> None:
    assert why_reranker_missing(f"cross-encoder:{source}")


def test_what_is_here_lacks_nothing(cross_encoder: Path) -> None:
    assert why_reranker_missing(f"cross-encoder:{cross_encoder}") is None
    assert find_reranker(f"cross-encoder:{cross_encoder}").name == f"cross-encoder:{cross_encoder}"
