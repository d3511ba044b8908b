"""How well a model that is trained finds the matches of dev or test queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import torch

from retrieval.encoders.base import Floats, Kind
from retrieval.encoders.dense.transformer import TOKENS_A_BATCH, batch_by_length, pad_ids, unit_vectors
from retrieval.threads import side_by_side
from retrieval.training.data import MeasuredPart, TrainingData
from retrieval.training.dual_encoders import DualEncoder
from retrieval.training.rankings import average_measures

POOL: Final = 1000
"""Pairs among which CodeSearchNet looks for a query's snippet."""
Scores = npt.NDArray[np.float64]


def encode_texts(model: DualEncoder, texts: Sequence[str], kind: Kind) -> Floats:
    """Vectors of length 1, shape (texts, dimension), without dropout."""
    model.eval()
    inputs = model.tokenize(texts, kind)
    device = next(model.parameters()).device

    def forward(batch: list[int]) -> Floats:
        longest = max(len(inputs[place]) for place in batch)
        ids, mask = pad_ids([inputs[place] for place in batch], model.padding, longest)
        with torch.inference_mode():
            return unit_vectors(model.embed(kind, ids.to(device), mask.to(device)))

    parts = list(batch_by_length([len(ids) for ids in inputs], TOKENS_A_BATCH[device.type]))
    found = list(side_by_side(forward, parts, device.type))
    vectors = np.zeros((len(texts), found[0].shape[1]), dtype=np.float32)
    for batch, rows in zip(parts, found, strict=True):
        vectors[batch] = rows
    return vectors


def score_whole_pool(model: DualEncoder, data: TrainingData, part: MeasuredPart) -> dict[str, float]:
    """The means of MEASURES over the part's queries, each of which searches the whole code base."""
    queries = encode_texts(model, [data.queries[query] for query in part.queries], "query")
    snippets = encode_texts(model, [data.snippets[place] for place in data.searched], "snippet")
    return average_measures(data, part, lambda start, end: queries[start:end] @ snippets.T)


def score_in_batches(model: DualEncoder, data: TrainingData, part: MeasuredPart) -> dict[str, float]:
    """CodeSearchNet's MRR: each query finds its snippet among those of up to 999 other pairs; ties count
    against it. Batches are made in the part's order; a rest that is smaller is left out, unless it is all.
    """
    pairs = part.pairs()
    queries = encode_texts(model, [data.queries[query] for query, _ in pairs], "query")
    snippets = encode_texts(model, [data.snippets[place] for _, place in pairs], "snippet")
    whole = len(pairs) // POOL * POOL or len(pairs)
    found = [
        reciprocal_ranks_in_batch(queries[start : start + POOL], snippets[start : start + POOL])
        for start in range(0, whole, POOL)
    ]
    return {"mrr in batches": float(np.concatenate(found).mean())}


def reciprocal_ranks_in_batch(queries: Floats, snippets: Floats) -> Scores:
    """1 / (number of snippets that score at least as much as the own one), shape (queries,)."""
    products = queries @ snippets.T
    inverse: Scores = 1.0 / (products >= np.diagonal(products)[:, None]).sum(axis=1)
    return inverse


SCORERS: Final[dict[str, Callable[[DualEncoder, TrainingData, MeasuredPart], dict[str, float]]]] = {
    "ndcg@10": score_whole_pool,
    "mrr in batches": score_in_batches,
}
"""By the measure that selects an epoch, what is measured on dev queries."""
