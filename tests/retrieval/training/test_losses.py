"""The losses beside sums by hand."""

from __future__ import annotations

import math

import pytest
import torch

from retrieval.training.losses import margin_loss, ranking_loss, softmax_loss

PRODUCTS = torch.tensor([[0.9, 0.4], [0.2, 0.7]])
FIRST_IGNORED = torch.tensor([[False, True], [False, False]])


def test_softmax_is_the_mean_cross_entropy_of_the_scaled_rows() -> None:
    # log(1 + e^(20 (0.4 - 0.9))) and log(1 + e^(20 (0.2 - 0.7))), both log(1 + e^-10)
    assert softmax_loss(PRODUCTS, None, 20).item() == pytest.approx(math.log1p(math.exp(-10)), rel=1e-3)
    # scale 1: (log(1 + e^-0.5) + log(1 + e^-0.5)) / 2
    assert softmax_loss(PRODUCTS, None, 1).item() == pytest.approx(math.log1p(math.exp(-0.5)))


def test_softmax_leaves_ignored_columns_out() -> None:
    # the first row has its own column alone: 0; the second one log(1 + e^-0.5)
    assert softmax_loss(PRODUCTS, FIRST_IGNORED, 1).item() == pytest.approx(math.log1p(math.exp(-0.5)) / 2)


def test_softmax_takes_further_columns_as_non_matches() -> None:
    more = torch.cat([PRODUCTS, torch.tensor([[0.9], [0.7]])], dim=1)
    # each row: own against one that is 0.5 below and one that is as high
    assert softmax_loss(more, None, 1).item() == pytest.approx(math.log(2 + math.exp(-0.5)))


def test_margin_is_taken_to_the_hardest_other_above_zero() -> None:
    # (1 - 0.9 + 0.4 + 1 - 0.7 + 0.2) / 2 = 0.5
    assert margin_loss(PRODUCTS, None, 1).item() == pytest.approx(0.5)
    # an other below 0 counts as 0: (0.1 + 0.3) / 2
    assert margin_loss(torch.tensor([[0.9, -0.4], [-0.2, 0.7]]), None, 1).item() == pytest.approx(0.2)
    # the first row without its other: (0.1 + 0.5) / 2
    assert margin_loss(PRODUCTS, FIRST_IGNORED, 1).item() == pytest.approx(0.3)


def test_margin_of_one_pair_is_what_its_own_product_lacks() -> None:
    assert margin_loss(torch.tensor([[0.25]]), None, 1).item() == pytest.approx(0.75)


def test_ranking_is_the_mean_margin_over_the_other_queries_of_each_snippet() -> None:
    # the first snippet: 0.6 - 0.9 + 0.2 < 0, so 0; the second one: 0.6 - 0.7 + 0.4 = 0.3; (0 + 0.3) / 2
    assert ranking_loss(PRODUCTS, None, 0.6).item() == pytest.approx(0.15)
    # the first query is no non-match of the second snippet: 0 of one pair is left
    assert ranking_loss(PRODUCTS, FIRST_IGNORED, 0.6).item() == 0


def test_ranking_of_one_pair_has_nothing_to_compare() -> None:
    assert ranking_loss(torch.tensor([[0.25]]), None, 0.05).item() == 0
