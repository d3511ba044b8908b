"""Faiss's searches of float32 vectors: the one door to faiss.

A flat search is a matrix product whose scores never leave the processor's caches. It tells the best scores of
each query and nothing of what it left out but this: none of that is better than the last one told. An
approximate index holds all vectors in memory, looks at few of them, and leaves out what it does not meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Floats: TypeAlias = "npt.NDArray[np.float32]"
Indices: TypeAlias = "npt.NDArray[np.int64]"

INDEXES = {"hnsw": "approximate: a graph of neighbours (HNSW)", "ivf": "approximate: inverted lists (IVF)"}
"""What may be asked for instead of exact search, in words."""


def find_largest_products(queries: Floats, rows: Floats, count: int) -> tuple[Floats, Indices]:
    """The `count` largest inner products of each query with `rows`, descending, and whose they are.

    Both of shape (q, count), with fewer columns where there are fewer rows. Each product is a float32 sum in
    an order of the library's own.
    """
    import faiss

    with wide_products():
        scores, places = faiss.knn(queries, rows, min(count, len(rows)), metric=faiss.METRIC_INNER_PRODUCT)
    return scores, places


QUERIES_A_PRODUCT, ROWS_A_PRODUCT = 1_024, 4_096
"""Of one matrix product within a search. The table takes 16 MB, as by the library's 4,096 and 1,024.

Products of 1,024 rows keep a processor less busy: on two cores of a Zen 3 a search took an eighth longer.
"""


@contextmanager
def wide_products() -> Iterator[None]:
    """The library's settings are the whole process's: whoever else uses it finds them as they were."""
    import faiss

    names = "distance_compute_blas_query_bs", "distance_compute_blas_database_bs"
    before = [getattr(faiss.cvar, name) for name in names]
    try:
        for name, value in zip(names, (QUERIES_A_PRODUCT, ROWS_A_PRODUCT), strict=True):
            setattr(faiss.cvar, name, value)
        yield
    finally:
        for name, value in zip(names, before, strict=True):
            setattr(faiss.cvar, name, value)


NEIGHBOURS, WHILE_BUILDING, WHILE_SEARCHING = 32, 100, 128
"""Of a graph: links of a vector, and how many are kept in view."""

LISTS_LOOKED_INTO, ROWS_A_LIST = 32, 64
"""Of inverted lists: of about sqrt(n) lists, and rows a list to find their centres."""


class Approximate:
    """A filled approximate index for inner products. `sample`, shape (s, d), is what lists are made from."""

    def __init__(self, kind: str, count: int, sample: Floats, blocks: Iterable[Floats]) -> None:
        self.index = (
            create_graph_index(sample.shape[1]) if kind == "hnsw" else create_inverted_lists(count, sample)
        )
        for block in blocks:
            self.index.add(block)

    def best(self, queries: Floats, count: int) -> Indices:
        """The numbers of the rows found for each query, best first, shape (q, count); -1 where none is."""
        found: Indices = self.index.search(queries, count)[1]
        return found


def rows_to_learn_from(count: int) -> int:
    """How many rows of so many an approximate index wants as its sample."""
    return min(count, ROWS_A_LIST * number_of_lists(count))


def number_of_lists(count: int) -> int:
    return max(1, int(count**0.5))


def create_graph_index(dimension: int) -> Any:
    import faiss

    index = faiss.IndexHNSWFlat(dimension, NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction, index.hnsw.efSearch = WHILE_BUILDING, WHILE_SEARCHING
    return index


def create_inverted_lists(count: int, sample: Floats) -> Any:
    import faiss

    dimension, number = sample.shape[1], number_of_lists(count)
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(dimension), dimension, number, faiss.METRIC_INNER_PRODUCT)
    index.cp.min_points_per_centroid = 1
    index.train(sample)
    index.nprobe = min(LISTS_LOOKED_INTO, number)
    return index
