"""Faiss's searches of float32 vectors: the one door to faiss.

A flat search is a matrix product whose scores never leave the processor's caches. It tells the best scores of
each query and nothing of what it left out but this: none of that is better than the last one told.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]

INDEXES = {"hnsw": "approximate: a graph of neighbours (HNSW)", "ivf": "approximate: inverted lists (IVF)"}
"""What may be asked for instead of exact search, in words."""


def best(queries: Floats, rows: Floats, count: int) -> tuple[Floats, Indices]:
    """The `count` largest inner products of each query with `rows`, descending, and whose they are.

    Both of shape (q, count), with fewer columns where there are fewer rows. Each product is a float32 sum in
    an order of the library's own.
    """
    import faiss

    scores, places = faiss.knn(queries, rows, min(count, len(rows)), metric=faiss.METRIC_INNER_PRODUCT)
    return scores, places
