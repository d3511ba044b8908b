"""Late interaction sums, over the tokens of a query, the largest cosine with a token of the snippet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from retrieval.encoders.rerankers import UnknownReranker, find_reranker
from retrieval.encoders.rerankers import late_interaction as module
from retrieval.encoders.rerankers.late_interaction import LateInteraction

CODES = ["def sort(x):\n    return sorted(x)", "x = [1, 2, 3]", "def read_csv(path): ..." * 40]


def test_a_score_is_the_sum_of_the_largest_cosines(plain_model: Path) -> None:
    """By the definition, a token at a time, with transformers alone."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = (
        AutoTokenizer.from_pretrained(plain_model),
        AutoModel.from_pretrained(plain_model).eval(),
    )

    def states(text: str, limit: int) -> list[np.ndarray]:
        ids = tokenizer(text, truncation=True, max_length=limit, return_tensors="pt")
        with torch.inference_mode():
            return list(model(**ids).last_hidden_state[0].numpy())

    expected = []
    for code in CODES:
        theirs, total = states(code, 256), 0.0
        for own in states("sort a list", 64):
            total += max(float(own @ one / np.linalg.norm(own) / np.linalg.norm(one)) for one in theirs)
        expected.append(total)
    assert LateInteraction(str(plain_model)).score_snippets("sort a list", CODES) == pytest.approx(
        expected, abs=1e-4
    )


def test_a_text_is_nearest_to_itself(plain_model: Path) -> None:
    """Each of its seven tokens meets itself at a cosine of 1: [CLS] x = [ 1 ] [SEP]."""
    found = LateInteraction(str(plain_model)).score_snippets("x = [1]", ["x = [1]", *CODES])
    assert found[0] == pytest.approx(7, abs=1e-4)
    assert found.argmax() == 0


def test_scores_are_the_same_when_states_are_no_longer_kept(
    plain_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = LateInteraction(str(plain_model)).score_snippets("sort", CODES * 2)
    monkeypatch.setattr(module, "STATES_KEPT", 1)
    assert LateInteraction(str(plain_model)).score_snippets("sort", CODES * 2).tolist() == kept.tolist()


@pytest.mark.parametrize(
    "name", ["", "bm25", "cross-encoder", "cross-encoder:", "late-interaction: ", "x:/f"]
)
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(UnknownReranker, match="cross-encoder:/folder or late-interaction:/folder"):
        find_reranker(name)
