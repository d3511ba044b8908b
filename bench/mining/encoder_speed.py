"""Encoding real functions with MiniLM, against sentence-transformers with its defaults."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from bench.mining import encoding_rival
from retrieval.encoders import find_encoder
from retrieval.encoders.dense.transformer import TransformerEncoder
from retrieval.index.product import Floats
from retrieval.sources import Record
from retrieval.sources.formats.cosqa import read_snippets

FUNCTIONS, SEED, K, WARM = {"small": 1000, "full": None}, 7, 20, 8
CODE_BASE = "code_idx_map.txt"


class NoFunctions(ValueError):
    """There are no functions to encode; the message says which file is looked for."""


def measure_encoding(size: str, data: Path | None) -> Mapping[str, object]:
    """Functions a second, and how alike the nearest neighbours are.

    `overlap_top20`: of each function's 20 nearest others by our vectors, how many are so by theirs too.
    """
    functions = draw_functions(data, FUNCTIONS[size])
    ours, theirs = find_encoder("minilm"), encoding_rival.Encoder()
    assert isinstance(ours, TransformerEncoder)
    precision = ours.precision
    ours.encode(functions[:WARM], "snippet")
    theirs.encode(functions[:WARM])
    found: dict[str, Floats] = {}
    seconds = dict.fromkeys(("sentence_transformers", "ours"), 0.0)
    for name in seconds:
        started = time.perf_counter()
        found[name] = ours.encode(functions, "snippet") if name == "ours" else theirs.encode(functions)
        seconds[name] = time.perf_counter() - started
    return {
        "precision": precision,
        "functions": len(functions),
        "functions_per_second": {name: round(len(functions) / taken, 1) for name, taken in seconds.items()},
        "ratios": {
            "over_sentence_transformers": round(seconds["sentence_transformers"] / seconds["ours"], 3)
        },
        "overlap_top20": round(compute_neighbour_overlap(found["ours"], found["sentence_transformers"]), 4),
    }


def draw_functions(data: Path | None, count: int | None) -> Sequence[str]:
    """So many functions of the folder, drawn by a fixed seed; all for None. Raises NoFunctions."""
    places = [] if data is None else [data / CODE_BASE, data / "cosqa" / CODE_BASE]
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        raise NoFunctions(
            f"encoding takes real functions: --data DIR, where DIR has {CODE_BASE}, CoSQA's code base, a "
            "JSON object from function to index"
        )
    functions = [record.text for record in read_snippets(file) if isinstance(record, Record)]
    if not functions:
        raise NoFunctions(f"{file} has no function; expected a JSON object from function to index")
    return functions if count is None else random.Random(SEED).sample(functions, min(count, len(functions)))


def compute_neighbour_overlap(ours: Floats, theirs: Floats) -> float:
    """The mean share of common neighbours."""
    pairs = zip(find_nearest_neighbours(ours), find_nearest_neighbours(theirs), strict=True)
    return float(np.mean([len(np.intersect1d(a, b)) / len(a) for a, b in pairs]))


def find_nearest_neighbours(vectors: Floats) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -np.inf)
    return np.argsort(-cosines, axis=1, kind="stable")[:, : min(K, len(vectors) - 1)]
