"""Vectors of words by their neighbours, and how NCS and UNIF weight words."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.encoders.baselines.baseline_networks import WordVectors
from retrieval.training.run import CannotTrain, TrainingOrder, train_system
from retrieval.training.settings import Settings, recipe_of
from retrieval.training.word_vectors import (
    draw_neighbours,
    inverse_document_frequencies,
    skip_gram_loss,
    train_word_vectors,
)
from tests.retrieval.training.conftest import make_data

WORDS = 6


def make_network(weighting: str) -> WordVectors:
    torch.manual_seed(3)
    return WordVectors(weighting, WORDS).eval()


def pool(network: WordVectors, *texts: list[int]) -> torch.Tensor:
    longest = max(map(len, texts))
    ids = torch.tensor([text + [0] * (longest - len(text)) for text in texts])
    mask = torch.tensor([[1] * len(text) + [0] * (longest - len(text)) for text in texts])
    with torch.no_grad():
        found: torch.Tensor = network(ids, mask)
    return found


def test_a_query_is_the_mean_of_its_words() -> None:
    network = make_network("mean")
    table = network.embeddings.weight.detach()
    expected = (table[1] + 2 * table[2]) / 3
    torch.testing.assert_close(pool(network, [2, 1, 2], [1, 1, 1, 1])[0], expected)


def test_code_is_weighted_by_tf_idf_of_its_words() -> None:
    network = make_network("tf-idf")
    network.idf.copy_(torch.tensor([0.0, 0.5, 2.0, 1.0, 1.0, 1.0]))
    unit = torch.nn.functional.normalize(network.embeddings.weight.detach(), dim=1)
    # Word 2 stands three times: (1 + log 3) x 2; word 1 once: 1 x 0.5.
    heavy = 2 * (1 + math.log(3))
    expected = (heavy * unit[2] + 0.5 * unit[1]) / (heavy + 0.5)
    torch.testing.assert_close(pool(network, [2, 1, 2, 2])[0], expected)


def test_attention_prefers_words_along_its_vector() -> None:
    network = make_network("attention")
    table = network.embeddings.weight.detach()
    torch.testing.assert_close(pool(network, [1, 2])[0], (table[1] + table[2]) / 2)
    network.attention.data = 50 * (table[2] - table[1])
    torch.testing.assert_close(pool(network, [1, 2])[0], table[2], atol=1e-3, rtol=1e-3)


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["mean", "tf-idf", "attention"]),
    st.lists(st.integers(1, WORDS - 1), min_size=1, max_size=8),
    st.randoms(use_true_random=False),
)
def test_order_and_padding_change_nothing(weighting: str, text: list[int], random: Any) -> None:
    network = make_network(weighting)
    turned = random.sample(text, len(text))
    alone, beside = pool(network, text)[0], pool(network, turned, [1] * 12)[0]
    torch.testing.assert_close(alone, beside, atol=1e-5, rtol=1e-4)


def test_neighbours_are_in_the_same_text_and_near() -> None:
    torch.manual_seed(1)
    texts = [list(range(20)), [30, 31], [40]]
    words = torch.tensor([word for text in texts for word in text])
    owner = torch.tensor([place for place, text in enumerate(texts) for _ in text])
    drawn = [pair for parts in draw_neighbours(words, owner) for pair in zip(*parts, strict=True)]
    assert drawn and all(0 < abs(int(one) - int(other)) <= 5 for one, other in drawn)
    assert 40 not in {int(one) for one, _ in drawn}, "it has no neighbour"
    assert draw_neighbours(words[:0], owner[:0]) == []


def test_the_loss_is_that_of_skip_gram_with_negatives() -> None:
    one = torch.tensor([[1.0, 0.0]])
    negatives = torch.tensor([[[0.0, 1.0], [0.0, 1.0]]])
    # -log sigmoid(1) - 2 log sigmoid(0) = 0.31326 + 2 x 0.69315
    assert float(skip_gram_loss(one, one, negatives)) == pytest.approx(1.69956, abs=1e-4)


def test_words_of_the_same_places_become_near_and_the_seed_decides() -> None:
    texts = [[1, 2, 1, 2, 1, 2], [3, 4, 3, 4, 3, 4]] * 40
    found = []
    for _ in range(2):
        torch.manual_seed(7)
        vectors, losses = train_word_vectors(texts, 5, 16, 30, 0.02)
        found.append(vectors)
    assert torch.equal(*found)
    assert losses[-1] < losses[0]
    unit = torch.nn.functional.normalize(found[0], dim=1)
    assert float(unit[1] @ unit[2]) > float(unit[1] @ unit[4])


def test_rare_words_weigh_more_and_none_weighs_nothing() -> None:
    found = inverse_document_frequencies([[1, 1, 2], [1, 3], [1]], 5)
    np.testing.assert_allclose(found[1:4], [math.log(4 / 3), math.log(4), math.log(4)], rtol=1e-5)
    assert bool((found > 0).all())


@pytest.mark.parametrize("system", ["ncs", "unif"])
def test_both_learn_in_seconds_and_say_what_came_of_it(system: str, tmp_path: Path) -> None:
    chosen = recipe_of(system).changed({"epochs": 2, "batch_size": 4, "vocabulary": 200})
    order = TrainingOrder(system, chosen, tmp_path / "new")
    told = train_system(make_data(), order, lambda *state: None)
    assert len(told["result"]["loss"]) >= 2 and told["result"]["test"]["rows"]["after training"]
    assert (told["result"]["best"] is None) == (system == "ncs")


def test_ncs_is_not_stopped_by_time(tmp_path: Path) -> None:
    order = TrainingOrder("ncs", Settings(vocabulary=100), tmp_path / "new", minutes=1)
    with pytest.raises(CannotTrain, match="leave minutes out"):
        train_system(make_data(), order, lambda *state: None)
