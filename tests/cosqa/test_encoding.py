"""Encoders by name in a notebook."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cosqa import Encoder
from cosqa.encoding import MissingWeights, UnknownEncoder
from tests.retrieval.encoders.conftest import tiny_models

__all__ = ["tiny_models"]


def test_texts_become_vectors_of_length_one(tiny_models: dict[str, Path]) -> None:
    encoder = Encoder(f"minilm:{tiny_models['minilm']}")
    vectors = encoder.embed(["sort a list", "read a file", "sort a list"])
    assert vectors.shape == (3, encoder.dimension)
    assert np.allclose((vectors**2).sum(axis=1), 1, atol=1e-5)
    assert np.allclose(vectors[0], vectors[2])
    assert encoder.embed(["def f(x): return x"], "function").shape == (1, encoder.dimension)


def test_what_counts_terms_has_no_vectors() -> None:
    with pytest.raises(ValueError, match="bm25 counts terms"):
        Encoder("bm25")


def test_an_unknown_name_says_which_there_are() -> None:
    with pytest.raises(UnknownEncoder, match="choose from bm25"):
        Encoder("word2vec")


def test_missing_weights_say_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(MissingWeights):
        Encoder(f"minilm:{tmp_path}").embed(["x"])
