"""CodeSearchNet's second task: the snippet of a query among 999 others (arXiv 1909.09436, §4.3, Table 3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

POOL = 1000
"""A query's own snippet and 999 distractors."""


def reciprocal_rank_among(own: float, distractors: Sequence[float] | NDArray[np.floating]) -> float:
    """1 / rank of a query's own snippet by score among its distractors; their mean is the table's MRR.

    A distractor with an equal score stands before it, as in the authors' code: a model that gives every
    snippet the same score is no good. Raises ValueError where a score is not finite.
    """
    others = np.asarray(distractors, dtype=np.float64)
    if not (np.isfinite(own) and np.isfinite(others).all()):
        raise ValueError("every score must be a finite number")
    return 1 / (1 + int(np.count_nonzero(others >= own)))


def reciprocal_ranks_in_pool(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """The same for every query of a pool whose snippets are each other's distractors.

    `scores`: (n, n), rows queries, columns snippets, a query's own on the diagonal; n is `POOL` in the paper.
    Returns (n,) reciprocal ranks. Raises ValueError for another shape or a score that is not finite.
    """
    if scores.ndim != 2 or scores.shape[0] != scores.shape[1]:
        raise ValueError(f"expected as many queries as snippets, found shape {scores.shape}")
    if not np.isfinite(scores).all():
        raise ValueError("every score must be a finite number")
    ranks = np.count_nonzero(scores >= np.diagonal(scores)[:, None], axis=1)
    return np.asarray(1 / ranks, dtype=np.float64)
