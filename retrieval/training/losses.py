"""What is made small: all losses compare each query with all snippets of its batch.

`products` has shape (queries, columns): column i < queries is the snippet of query i, further columns are
judged non-matches of the batch. `ignored`, of the same shape or None, is true where a column is no non-match
of the query, so that it does not count.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def softmax_loss(products: Tensor, ignored: Tensor | None, scale: float) -> Tensor:
    """Mean cross entropy of scale x products against the diagonal: CoSQA+'s, the log-softmax of InfoNCE."""
    scores = scale * products
    if ignored is not None:
        scores = scores.masked_fill(ignored, float("-inf"))
    return nn.functional.cross_entropy(scores, torch.arange(len(scores), device=scores.device))


def margin_loss(products: Tensor, ignored: Tensor | None, margin: float) -> Tensor:
    """Mean of max(0, margin - own + max(0, hardest other)): CodeSearchNet's default, on cosines."""
    own = products.diagonal()
    others = products.masked_fill(_diagonal(products), float("-inf"))
    if ignored is not None:
        others = others.masked_fill(ignored, float("-inf"))
    return (margin - own + others.relu().amax(dim=1)).relu().mean()


def ranking_loss(products: Tensor, ignored: Tensor | None, margin: float) -> Tensor:
    """Mean of max(0, margin - own + other) over all queries of the batch but a snippet's own one.

    nokia/codesearch trains UNIF so, with a few queries that are drawn for each snippet.
    """
    own = products.diagonal()
    counts = ~_diagonal(products)
    if ignored is not None:
        counts = counts & ~ignored
    lacking = (margin - own[None, :] + products).relu() * counts
    return lacking.sum() / counts.sum().clamp(min=1)


def _diagonal(products: Tensor) -> Tensor:
    rows, columns = products.shape
    return torch.eye(rows, columns, dtype=torch.bool, device=products.device)
