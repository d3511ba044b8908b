"""BM25 of two fields: what a function is called counts beside what it says."""

from __future__ import annotations

import numpy as np
import pytest

from retrieval.encoders import find_encoder
from retrieval.encoders.lexical.bm25 import BM25
from retrieval.encoders.lexical.bm25_fields import FieldedBM25, find_snippet_name

SNIPPETS = ("def read_csv(path):\n    return open(path)", "def load(csv):\n    return csv.read()", "")


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (SNIPPETS[0], "read_csv"),
        ("@cached\nasync def go(x): ...", "go"),
        ("function readAll(file) { return 1 }", "readAll"),
        ("public static int parseInt(String s) { return 1; }", "parseInt"),
        ("x = 1", ""),
        ("", ""),
    ],
)
def test_the_name_of_a_snippet(code: str, name: str) -> None:
    assert find_snippet_name(code) == name


def test_scores_are_the_sum_of_the_fields() -> None:
    found = FieldedBM25().fit(SNIPPETS).scores(["read csv", "nothing of it"])
    names = BM25().fit(["read_csv", "load", ""]).scores(["read csv", "nothing of it"])
    texts = BM25().fit(SNIPPETS).scores(["read csv", "nothing of it"])
    assert np.allclose(found.raw, names.raw + texts.raw)
    assert np.allclose(found.bound, names.bound + texts.bound)
    assert found.entering.max() <= 1


def test_a_name_outweighs_a_mention() -> None:
    found = find_encoder("bm25-fields").fit(SNIPPETS).scores(["read csv"])  # type: ignore[union-attr]  # it is lexical
    assert found.raw[0].argmax() == 0
