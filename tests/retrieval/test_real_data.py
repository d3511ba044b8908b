"""The 500 real CoSQA queries over the 6,267 real functions reach the known figures, by import and evaluation.

MiniLM encodes all of them in `make figures` alone, as that takes minutes, and a part in every other run. Its
vectors are kept under pytest's cache folder.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command

from retrieval.models import Benchmark
from tests.sizes import CODEBASE, PAIRS, WHOLE, cosqa_files
from tests.vectors import kept

pytestmark = [pytest.mark.real_data, pytest.mark.django_db]
KNOWN = {
    True: {"queries": 500, "minilm": 0.541, "both": 0.510, "both in 20": 0.884},
    False: {"queries": 50, "minilm": 0.808, "both": 0.805, "both in 20": 1.0},
}
"""The mean reciprocal ranks by `WHOLE`; fewer functions are easier to find."""


def evaluated(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    call_command("evaluate", "cosqa", *arguments, "--metrics", "mrr,recall@20", "--json")
    printed = json.loads(capsys.readouterr().out)
    assert isinstance(printed, dict)
    return printed


def imported(pairs: Path, codebase: Path) -> Benchmark:
    call_command("import", "cosqa", str(pairs), "--codebase", str(codebase), "--name", "cosqa")
    return Benchmark.objects.get()


def test_known_figures_of_words(real_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """BM25 0.335 and without docstrings 0.197: CoSQA's functions were found by their docstrings."""
    made = imported(real_data / "cosqa" / PAIRS, real_data / "cosqa" / CODEBASE)
    assert (made.size, made.positives, made.snippets_until) == (500, 500, 6267)
    found = evaluated(capsys, "--encoder", "bm25")
    assert found["bm25"]["mrr"] == pytest.approx(0.335, abs=0.003)
    bare = evaluated(capsys, "--encoder", "bm25", "--text-option", "without_docstring")
    assert bare["bm25"]["mrr"] == pytest.approx(0.197, abs=0.003)


def test_known_figures_of_vectors(
    real_data: Path,
    pytestconfig: pytest.Config,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """MiniLM's are those of a plain sentence-transformers script; then the mean of it and BM25.

    Of the whole the labelled function is among the first 20 for 88.4 % of the queries.
    """
    known = KNOWN[WHOLE]
    made = imported(*cosqa_files(real_data, tmp_path))
    with kept(pytestconfig) as vectors:
        monkeypatch.setattr(settings, "COSQA_HOME", vectors.parent)
        found = evaluated(capsys, "--encoder", "minilm", "bm25+minilm")
    assert found["minilm"]["queries"]["scored"] == made.size == known["queries"]
    assert found["minilm"]["mrr"] == pytest.approx(known["minilm"], abs=0.005)
    assert found["bm25+minilm"]["mrr"] == pytest.approx(known["both"], abs=0.005)
    assert found["bm25+minilm"]["recall@20"] == pytest.approx(known["both in 20"], abs=0.005)
