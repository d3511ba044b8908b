"""bfloat16 is taken where it is timed to be faster, and its vectors are other vectors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.encoders import find_encoder
from retrieval.encoders.dense import precision
from retrieval.encoders.dense.transformer import TransformerEncoder

TEXTS = ["sort a list", "def read_csv(path):\n    return open(path)", "x" * 50]


def encoder(kind: str, folder: Path, wanted: precision.Precision) -> TransformerEncoder:
    found = find_encoder(f"{kind}:{folder}")
    assert isinstance(found, TransformerEncoder)
    return replace(found, wanted=wanted)


@pytest.mark.parametrize("kind", ["minilm", "codebert", "unixcoder", "codet5p"])
def test_bf16_vectors_lie_near_those_of_float32(kind: str, tiny_models: dict[str, Path]) -> None:
    plain, short = (encoder(kind, tiny_models[kind], wanted) for wanted in ("fp32", "bf16"))
    cosines = (plain.encode(TEXTS, "snippet") * short.encode(TEXTS, "snippet")).sum(axis=1)
    assert cosines == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize(("kind", "attention"), [("minilm", ";attention=products"), ("codet5p", "")])
def test_each_precision_has_vectors_of_its_own(
    kind: str, attention: str, tiny_models: dict[str, Path]
) -> None:
    plain, short = (encoder(kind, tiny_models[kind], wanted) for wanted in ("fp32", "bf16"))
    assert short.identity == f"{plain.identity};precision=bf16{attention}"


def test_a_tiny_model_is_not_timed(tiny_models: dict[str, Path]) -> None:
    found = find_encoder(f"minilm:{tiny_models['minilm']}")
    assert isinstance(found, TransformerEncoder)
    assert found.precision == "fp32"


@pytest.mark.parametrize(
    ("flags", "taken", "chosen"),
    [
        ("sse avx512_bf16", {"fp32": 2.0, "bf16": 1.0}, "bf16"),
        ("sse amx_bf16", {"fp32": 2.0, "bf16": 1.9}, "fp32"),
        ("sse avx2", {"fp32": 2.0, "bf16": 1.0}, "fp32"),
    ],
)
def test_the_clearly_faster_one_is_chosen_where_the_processor_has_it(
    flags: str, taken: dict[str, float], chosen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpuinfo").write_text(f"processor : 0\nflags\t\t: {flags}\n")
    now = [0.0]
    monkeypatch.setattr(precision, "CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("time.perf_counter", lambda: now[0])

    def forward(ids: object, one: precision.Precision) -> None:
        now[0] += taken[one]

    assert precision.choose_faster_precision(forward) == chosen
