"""faiss's flat index in memory, which our search is held against: the one door to faiss."""

from __future__ import annotations

from collections.abc import Callable

from retrieval.index.product import Floats


def prepare_flat_search(queries: Floats, snippets: Floats, k: int) -> Callable[[], object]:
    """A search of a filled `IndexFlatIP`."""
    import faiss

    index = faiss.IndexFlatIP(snippets.shape[1])
    index.add(snippets)
    return lambda: index.search(queries, k)
