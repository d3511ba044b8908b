"""Texts as byte pairs, and vectors of texts that are padded."""

from __future__ import annotations

import pytest
import torch

from retrieval.encoders.baselines import baseline_networks
from retrieval.encoders.baselines.baseline_files import split_words
from retrieval.encoders.baselines.baseline_networks import BODIES, Baseline, TextNetwork
from retrieval.training.vocabulary import train_vocabulary

TEXTS = [
    "def read_rows(path):\n    return [line.split() for line in open(path)]",
    "def readRows2(x): return x",
    "",
    "é 中文字 ▁a ▁",
]


def make_baseline() -> Baseline:
    vocabulary = train_vocabulary(TEXTS * 2, 60)
    return Baseline("nbow", {"query": vocabulary, "snippet": vocabulary})


def test_a_word_has_the_same_pieces_alone_and_in_a_text() -> None:
    baseline = make_baseline()
    words = [split_words(text) or [baseline_networks.UNKNOWN] for text in TEXTS]
    together = baseline.vocabularies["snippet"].encode_batch(words, is_pretokenized=True)
    assert baseline.tokenize(TEXTS, "snippet") == [text.ids for text in together]


def test_words_that_are_forgotten_have_the_same_pieces_again(monkeypatch: pytest.MonkeyPatch) -> None:
    baseline = make_baseline()
    first = baseline.tokenize(TEXTS, "query")
    monkeypatch.setattr(baseline_networks, "MAX_KNOWN_WORDS", 1)
    assert baseline.tokenize(TEXTS, "query") == first
    assert [baseline.tokenize([text], "query")[0] for text in TEXTS] == first


@pytest.mark.parametrize("body", BODIES)
def test_pooling_is_the_mean_of_states_weighted_by_a_sigmoid(body: str) -> None:
    torch.manual_seed(3)
    network = TextNetwork(body, 20, 8).eval()
    ids = torch.tensor([[3, 4, 5, 6], [7, 8, 0, 0]])
    mask = (ids > 0).long()
    with torch.no_grad():
        states = network.body(network.embeddings(ids), mask)
        weights = torch.sigmoid(network.weight(states)) * mask.unsqueeze(-1)
        expected = (states * weights).sum(dim=1) / weights.sum(dim=1)
        torch.testing.assert_close(network(ids, mask), expected)
