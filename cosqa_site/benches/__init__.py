"""Speed, measured in one run on one machine and told as ratios against a limit measured beside it."""

from collections.abc import Callable, Mapping
from pathlib import Path

from cosqa_site.benches import (
    encoding,
    extraction,
    mining,
    pages,
    pipeline,
    release,
    review,
    sandbox,
    seeding,
)

Figures = Mapping[str, object]
SIZES = ("small", "full")
SIZED: Mapping[str, Callable[[str], Figures]] = {
    "mining": mining.measure,
    "pages": pages.measure,
    "pipeline": pipeline.measure,
    "release": release.measure,
    "review": review.measure,
    "seed": seeding.measure,
}
BENCHES: Mapping[str, Callable[[], Figures]] = {"extraction": extraction.measure, "sandbox": sandbox.measure}
FED: Mapping[str, Callable[[str, Path | None], Figures]] = {"encoding": encoding.measure}
"""Benches that take a folder of real data."""

DEFAULT = ("mining", *BENCHES, "pages", "pipeline", "release", "review")
