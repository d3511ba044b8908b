"""Exact top-k against the machine's own matrix product of the same shape."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np

from retrieval.index import nearest

SNIPPETS, QUERIES, DIMENSION, K, REPEATS = 50_000, 512, 1792, 20, 3


def measure() -> Mapping[str, object]:
    """GFLOP/s of the search and of NumPy's product of one block of the same shape; best of three each."""
    random = np.random.default_rng(7)
    snippets = unit(random.standard_normal((SNIPPETS, DIMENSION), dtype=np.float32))
    queries = unit(random.standard_normal((QUERIES, DIMENSION), dtype=np.float32))
    block = snippets[: SNIPPETS // 4]
    peak = best(lambda: queries @ block.T) * 4
    search = best(lambda: nearest(queries, snippets, K))
    work = 2 * SNIPPETS * QUERIES * DIMENSION / 1e9
    return {
        "gflops_search": round(work / search, 1),
        "gflops_peak": round(work / peak, 1),
        "queries_per_second": round(QUERIES / search, 1),
        "ratios": {"of_gemm_peak_fp32": round(peak / search, 3)},
    }


def unit(
    vectors: np.ndarray[tuple[int, int], np.dtype[np.float32]],
) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def best(work: Callable[[], object]) -> float:
    """Seconds of the fastest of some runs."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)
