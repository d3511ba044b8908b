"""Encoders take the precision in which most of the texts are stored, whatever a busy moment would say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.encoders import find_encoder
from retrieval.encoders.base import Encoder
from retrieval.encoders.dense.precision import Precision
from retrieval.encoders.dense.transformer import TransformerEncoder
from retrieval.index import stored_precision
from retrieval.index.vectors import VectorStore
from tests.retrieval.encoders.conftest import tiny_models  # noqa: F401  (a fixture)

TEXTS = ["def f(x): return x", "def g(x): return x + 1", "def h(x): return x + 2"]


@pytest.fixture(autouse=True)
def processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """One with bfloat16, which nobody has timed yet."""
    monkeypatch.setattr(stored_precision, "multiplies_bf16", lambda: True)


@pytest.fixture
def minilm(tiny_models: dict[str, Path]) -> TransformerEncoder:  # noqa: F811
    found = find_encoder(f"minilm:{tiny_models['minilm']}")
    assert isinstance(found, TransformerEncoder)
    return found


def keep(store: VectorStore, encoder: TransformerEncoder, precision: Precision, count: int) -> None:
    store.rows(replace(encoder, wanted=precision), TEXTS[:count], "snippet")


def wanted(encoder: TransformerEncoder, store: VectorStore) -> str:
    (found,) = stored_precision.as_stored([encoder], store, lambda: TEXTS)
    assert isinstance(found, TransformerEncoder)
    return found.wanted


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_what_most_texts_are_stored_in_is_taken(
    minilm: TransformerEncoder, tmp_path: Path, precision: Precision
) -> None:
    store = VectorStore(tmp_path)
    assert wanted(minilm, store) == "fastest" and not list(tmp_path.iterdir())
    keep(store, minilm, precision, 1)
    assert wanted(minilm, store) == "fastest"
    keep(store, minilm, precision, 2)
    assert wanted(minilm, store) == precision


def test_where_both_are_there_timing_decides(minilm: TransformerEncoder, tmp_path: Path) -> None:
    store = VectorStore(tmp_path)
    keep(store, minilm, "fp32", 3)
    keep(store, minilm, "bf16", 3)
    assert wanted(minilm, store) == "fastest"


def test_a_processor_without_bfloat16_does_not_imitate_it(
    minilm: TransformerEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(VectorStore(tmp_path), minilm, "bf16", 3)
    monkeypatch.setattr(stored_precision, "multiplies_bf16", lambda: False)
    assert wanted(minilm, VectorStore(tmp_path)) == "fastest"


def test_what_is_not_timed_stays_and_no_text_is_read_for_it(
    minilm: TransformerEncoder, tmp_path: Path
) -> None:
    chosen: list[Encoder] = [find_encoder("bm25"), replace(minilm, wanted="fp32")]

    def sample() -> list[str]:
        raise AssertionError("read")

    assert stored_precision.as_stored(chosen, VectorStore(tmp_path), sample) == chosen


@pytest.mark.parametrize(("count", "looked_at"), [(0, 0), (3, 3), (200, 200), (399, 200), (1000, 200)])
def test_a_sample_reaches_from_the_first_to_the_last(count: int, looked_at: int) -> None:
    found = stored_precision.sample_evenly(range(count))
    assert len(found) == looked_at
    assert not count or (found[0] == 0 and found[-1] >= count - count / 100 - 1)
