"""Attention as two plain products, for bfloat16 on a processor.

torch's own attention for processors gains little from bfloat16, but its plain products several times as much
as they have faster instructions for it: an encoder's attention takes half the time so.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from torch import Tensor

NAME: Final = "cosqa_products"
"""What transformers knows it by."""
MOST_SCORES: Final = 1 << 18
"""So many scores at once, unless one text has more: half a mebibyte, which a core's own cache holds."""
MULTIPLE: Final = 8
"""Rows of scores are made so many long: products of odd lengths are slow."""


@cache
def register_attention() -> str:
    """Make it known to transformers; returns the name that a model is loaded with."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

    AttentionInterface.register(NAME, compute_attention)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    return NAME


def compute_attention(
    module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, **options: Any
) -> tuple[Tensor, None]:
    """As transformers asks it: query, key and value of shape (texts, heads, tokens, dimension).

    `mask` is True where a token is seen, of shape (texts, 1, tokens, tokens), the same for every token of a
    text. Returns (texts, tokens, heads, dimension). What is not bfloat16 on a processor, or is being trained,
    goes to torch's own attention.
    """
    import torch
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    plain = query.dtype is torch.bfloat16 and query.device.type == "cpu" and torch.is_inference_mode_enabled()
    if not plain:
        found: Tensor = sdpa_attention_forward(module, query, key, value, mask, **options)[0]
        return found, None
    scale = options.get("scaling") or query.shape[-1] ** -0.5
    return by_products(query * scale, key, value, mask).transpose(1, 2), None


def by_products(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """The weighted values, of the query's shape; a few texts at a time."""
    import torch
    from torch.nn.functional import pad

    texts, heads, tokens, _ = query.shape
    more = -tokens % MULTIPLE
    key, value, bias = pad(key, (0, 0, 0, more)), pad(value, (0, 0, 0, more)), bias_of(query, mask, more)
    found = torch.empty(query.shape, dtype=query.dtype)
    few = max(1, MOST_SCORES // (heads * tokens * (tokens + more)))
    for start in range(0, texts, few):
        part = slice(start, start + few)
        found[part] = apply_softmax_weights(query[part], key[part], value[part], bias[part])
    return found


def bias_of(query: Tensor, mask: Tensor | None, more: int) -> Tensor:
    """What is added to scores: minus infinity for padding, and for the `more` columns; else 0."""
    import torch

    texts, _, tokens, _ = query.shape
    bias = torch.zeros(texts, 1, 1, tokens + more, dtype=query.dtype)
    bias[..., tokens:] = -torch.inf
    if mask is not None:
        bias[..., :tokens].masked_fill_(~mask[:, :, :1], -torch.inf)
    return bias


def apply_softmax_weights(query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
    """The values by the softmax of the scores. Products take bfloat16 and sum in float32, as does softmax."""
    import torch

    texts, heads, tokens, size = query.shape
    rows, columns = texts * heads, key.shape[2]
    flat = key.reshape(rows, columns, size).transpose(1, 2)
    scores = torch.bmm(query.reshape(rows, tokens, size), flat).view(texts, heads, tokens, columns)
    weights = torch._softmax(scores.add_(bias), -1, False).view(rows, tokens, columns)
    return torch.bmm(weights, value.reshape(rows, columns, size)).view(query.shape)
