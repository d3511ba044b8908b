"""Exact top-k of vectors on disk: against the machine's own matrix product, faiss, and float64.

Vectors are made up: `ordinary` ones point anywhere, `anisotropic` ones lie close together (mean cosine 0.99),
as those of untrained encoders do. They lie in files as three encoders' do (768 + 768 + 256) and are read
through the page cache.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import django
import numpy as np
from django.conf import settings

from bench.measure.memory import PeakMemory
from bench.mining import faiss_rival
from retrieval.encoders import Doubles
from retrieval.index import DECIMALS, Cosines, Options, fuse_signals
from retrieval.index.product import Floats, Format, build_query_product, find_faster_format, normalize_vectors
from retrieval.threads import spread_over_cores

DIMENSIONS, K, ROUNDS, A_WRITE = (768, 768, 256), 20, 3, 16_384
BARE_ROUNDS = 5
COSINES = {"ordinary": 0.0, "anisotropic": 0.99}


@dataclass(frozen=True)
class Size:
    """How many snippets and queries are timed, held against float64, and measured for their memory."""

    snippets: int
    queries: int
    checked: int
    memory_snippets: int
    memory_queries: int

    def of(self, kind: str) -> int:
        """How many snippets of a kind: those that are only held against float64 may be fewer."""
        return self.snippets if kind == "ordinary" else min(self.snippets, self.memory_snippets)


SIZES = {
    "small": Size(100_000, 1024, 64, 32_768, 1024),
    "full": Size(100_000, 1024, 1024, 653_994, 2048),
}


def measure_mining(size: str = "small") -> Mapping[str, object]:
    """Ratios of the best of some rounds in which the ways take turns; `peak_mb` is beyond the files."""
    wanted, dimension = SIZES[size], sum(DIMENSIONS)
    with tempfile.TemporaryDirectory(dir=settings.COSQA_HOME, prefix="bench-mining-") as name:
        folder = Path(name)
        made = {
            kind: write_encoder_vectors(folder / kind, kind, wanted.of(kind), wanted.queries)
            for kind in COSINES
        }
        chosen: Format = find_faster_format(dimension) if "bf16" in list_available_formats() else "fp32"
        seconds = time_search_methods(made["ordinary"], chosen)
        same = compute_identical_share(made.values(), wanted.checked)
        write_encoder_vectors(folder / "memory", "ordinary", wanted.memory_snippets, wanted.memory_queries)
        peak = peak_of(folder / "memory", chosen)
    work = 2 * wanted.snippets * wanted.queries * dimension / 1e9
    return {
        "chosen": chosen,
        "snippets": wanted.snippets,
        "queries": wanted.queries,
        "gflops": {name: round(work / taken, 1) for name, taken in seconds.items()},
        "queries_per_second": round(wanted.queries / seconds[chosen], 1),
        "ratios": compute_time_ratios(seconds, chosen),
        "identical_top20": same,
        "peak_mb": peak,
    }


def compute_time_ratios(seconds: Mapping[str, float], chosen: Format) -> Mapping[str, float]:
    """Of one shape of work, so that times compare as rates do."""
    found = {
        "of_gemm_peak_fp32": seconds["gemm_fp32"] / seconds["fp32"],
        "of_gemm_peak_bf16": seconds["gemm_bf16"] / seconds["bf16"] if "bf16" in seconds else 0.0,
        "over_faiss_flat": seconds["faiss_flat"] / seconds[chosen],
    }
    return {name: round(ratio, 3) for name, ratio in found.items()}


def time_search_methods(signals: list[Cosines], chosen: Format) -> dict[str, float]:
    """Seconds of the best of three runs of each way, of five of bare products; bfloat16 if it was chosen."""
    joined = np.hstack([one.snippets[:] for one in signals])
    queries = np.hstack([one.queries for one in signals]) / np.float32(np.sqrt(len(signals)))
    ways: dict[str, Callable[[], object]] = {
        "faiss_flat": faiss_rival.prepare_flat_search(queries, joined, K)
    }
    formats: tuple[Format, ...] = ("fp32", "bf16") if chosen == "bf16" else ("fp32",)
    for one in formats:
        ways[one] = partial(find_top_indices, signals, one)
        ways[f"gemm_{one}"] = prepare_bare_product(queries, joined, one)
    found = dict.fromkeys(ways, float("inf"))
    for number in range(BARE_ROUNDS):
        for name, way in ways.items():
            if number < ROUNDS or name.startswith("gemm"):
                found[name] = min(found[name], measure_work_seconds(way))
    return found


def prepare_bare_product(queries: Floats, snippets: Floats, format_: Format) -> Callable[[], object]:
    """A product of the same shape and nothing else."""
    by = build_query_product(queries, format_)
    by.load(snippets)
    return partial(by.table, slice(None))


def find_top_indices(signals: list[Cosines], format_: Format | None) -> list[list[int]]:
    """The indices of the k best of every query, best first."""
    count = len(signals[0].queries), len(signals[0].snippets)
    return [
        [hit.index for hit in hits] for hits in fuse_signals(signals, *count, K, Options(format_=format_))
    ]


def list_available_formats() -> tuple[Format, ...]:
    """The formats that the installed packages have."""
    return ("fp32", "bf16") if importlib.util.find_spec("torch") else ("fp32",)


def compute_identical_share(kinds: Iterable[list[Cosines]], checked: int) -> float:
    """The share of queries whose top k is float64's, in every format, as a set and in order."""
    same: list[bool] = []
    for signals in kinds:
        some = [Cosines(one.name, one.queries[:checked], one.snippets) for one in signals]
        truth = compute_reference_ranking(some)
        for format_ in list_available_formats():
            same += [a == b for a, b in zip(find_top_indices(some, format_), truth, strict=True)]
    return sum(same) / len(same)


def compute_reference_ranking(signals: list[Cosines]) -> list[list[int]]:
    """By a full table of float64 and a stable sort: what is nearer than 1e-12 keeps ascending index."""
    parts = [one.queries.astype(np.float64) @ one.snippets[:].astype(np.float64).T for one in signals]
    means: Doubles = np.round(np.array(parts).mean(axis=0), DECIMALS)
    return [np.argsort(-row, kind="stable")[:K].tolist() for row in means]


def write_encoder_vectors(folder: Path, kind: str, snippets: int, queries: int) -> list[Cosines]:
    """Write the vectors of three encoders and open them."""
    folder.mkdir()
    for number, dimension in enumerate(DIMENSIONS):
        middle = draw_unit_vectors([number], 1, dimension)
        for of, count in (("snippets", snippets), ("queries", queries)):
            file = np.lib.format.open_memmap(
                folder / f"{of}{number}.npy", mode="w+", dtype=np.float32, shape=(count, dimension)
            )
            write = partial(fill_vector_file, file, middle, COSINES[kind], [number, len(of)])
            list(spread_over_cores(write, range(0, count, A_WRITE)))
            file.flush()
    return open_encoder_vectors(folder)


def fill_vector_file(file: Floats, middle: Floats, cosine: float, seed: list[int], start: int) -> None:
    """Write some rows, from `start` on: each part of a file has a seed of its own."""
    rows = file[start : start + A_WRITE]
    rows[:] = shift_toward_middle(draw_unit_vectors([*seed, start], *rows.shape), middle, cosine)


def draw_unit_vectors(seed: list[int], count: int, dimension: int) -> Floats:
    """Vectors of length 1 that point anywhere, shape (count, dimension)."""
    return normalize_vectors(
        np.random.default_rng(seed).standard_normal((count, dimension), dtype=np.float32)
    )


def shift_toward_middle(vectors: Floats, middle: Floats, cosine: float) -> Floats:
    """Vectors whose mean cosine is `cosine`."""
    return normalize_vectors(np.float32(cosine**0.5) * middle + np.float32((1 - cosine) ** 0.5) * vectors)


def open_encoder_vectors(folder: Path) -> list[Cosines]:
    return [
        Cosines(
            f"encoder {number}",
            np.array(np.load(folder / f"queries{number}.npy")),
            np.load(folder / f"snippets{number}.npy", mmap_mode="r"),
        )
        for number in range(len(list(folder.glob("queries*.npy"))))
    ]


def peak_of(folder: Path, chosen: Format) -> int:
    """MiB of a process of its own at its largest without mapped files; the interpreter is included."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn, initializer=django.setup) as pool:
        return pool.submit(search_vector_folder, folder, chosen).result()


def search_vector_folder(folder: Path, chosen: Format) -> int:
    with PeakMemory() as memory:
        find_top_indices(open_encoder_vectors(folder), chosen)
    return memory.peak_mb


def measure_work_seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
