"""Speed, measured in one run on one machine and told as ratios against a limit measured beside it."""

from collections.abc import Callable, Mapping
from pathlib import Path

from bench import release
from bench.million import way
from bench.mining import encoder_speed, exact_search, extraction
from bench.pages import growth
from bench.pipeline import throughput as build_throughput
from bench.review import latency
from bench.sandbox import throughput as run_throughput
from bench.seed import database

Figures = Mapping[str, object]
SIZES = ("small", "full")
SIZED: Mapping[str, Callable[[str], Figures]] = {
    "million": way.measure_million,
    "mining": exact_search.measure_mining,
    "pages": growth.measure_pages,
    "pipeline": build_throughput.measure_pipeline,
    "release": release.measure_release,
    "review": latency.measure_review,
    "seed": database.measure_seed_data,
}
BENCHES: Mapping[str, Callable[[], Figures]] = {
    "extraction": extraction.measure_extraction,
    "sandbox": run_throughput.measure_sandbox,
}
FED: Mapping[str, Callable[[str, Path | None], Figures]] = {"encoding": encoder_speed.measure_encoding}
"""Benches that take a folder of real data."""

DEFAULT = ("mining", *BENCHES, "pages", "pipeline", "release", "review")
