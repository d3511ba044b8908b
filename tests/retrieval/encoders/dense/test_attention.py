"""Attention as two products says what torch's own says, and leaves to that what it can't do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.encoders.dense import attention

HEADS, SIZE = 2, 8
BERTS = SimpleNamespace(is_causal=False, training=False)
Tensors = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def drawn(texts: int, tokens: int, seed: int, dtype: torch.dtype = torch.bfloat16) -> Tensors:
    """Query, key and value."""
    chance = torch.Generator().manual_seed(seed)
    one, two, three = torch.randn(3, texts, HEADS, tokens, SIZE, generator=chance).to(dtype)
    return one, two, three


def seen(lengths: list[int]) -> torch.Tensor:
    """The mask of texts of these lengths, as transformers hands it over."""
    longest = max(lengths)
    rows = torch.arange(longest) < torch.tensor(lengths)[:, None]
    return rows[:, None, None, :].expand(-1, 1, longest, -1)


def attended(asked: Tensors, mask: torch.Tensor | None, **options: Any) -> torch.Tensor:
    with torch.inference_mode():
        return attention.compute_attention(BERTS, *asked, mask, **options)[0].float()


def plainly(asked: Tensors, mask: torch.Tensor | None) -> torch.Tensor:
    """In float32, by torch."""
    query, key, value = (one.float() for one in asked)
    found = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return found.transpose(1, 2)


@settings(deadline=None, max_examples=40)
@given(lengths=st.lists(st.integers(1, 40), min_size=1, max_size=9), seed=st.integers(0, 99))
def test_padding_is_not_attended_to(lengths: list[int], seed: int) -> None:
    asked, mask = drawn(len(lengths), max(lengths), seed), seen(lengths)
    assert torch.allclose(attended(asked, mask), plainly(asked, mask), atol=0.04)


def test_a_few_texts_at_a_time_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, mask = drawn(7, 19, seed=1), seen([19, 3, 8, 1, 19, 11, 2])
    together = attended(asked, mask)
    monkeypatch.setattr(attention, "MOST_SCORES", 2 * HEADS * 19 * 24)
    assert torch.equal(attended(asked, mask), together)


def test_without_padding_there_may_be_no_mask() -> None:
    asked = drawn(2, 16, seed=2)
    assert torch.equal(attended(asked, None), attended(asked, seen([16, 16])))


def test_scores_are_scaled_as_the_model_says() -> None:
    asked = drawn(2, 16, seed=3)
    halved = (asked[0] / 2, *asked[1:])
    assert torch.allclose(attended(asked, None, scaling=0.5 * SIZE**-0.5), attended(halved, None), atol=0.04)


def test_float32_and_what_is_trained_are_left_to_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "by_products", None)
    plain, short = drawn(2, 9, seed=4, dtype=torch.float32), drawn(2, 9, seed=4)
    assert torch.equal(attended(plain, None), plainly(plain, None))
    short[0].requires_grad_()
    torch.autograd.backward(attention.compute_attention(BERTS, *short, None)[0].sum())
    assert short[0].grad is not None
