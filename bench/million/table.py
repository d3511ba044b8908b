"""What the steps and pages take at each size, and how it grows from the smallest size on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from bench.million.way import Run

PAIRS_AN_ITEM: Final = 1_000
"""Each query is scored with every function: an item of a mining is so many of these pairs."""


def figures(runs: Sequence[Run]) -> Mapping[str, Any]:
    """By size the costs of each step and page; `growth` of an item of each step, from first to last size."""
    return {
        "sizes": [
            {
                "functions": run.functions,
                "queries": run.queries,
                "digest": run.digest,
                "steps": {
                    name: {
                        "items": step.items,
                        "cpu_seconds": step.cpu,
                        "seconds": step.seconds,
                        "microseconds_an_item": round(step.per_item, 1),
                        "peak_mb": step.peak_mb,
                    }
                    for name, step in run.steps.items()
                },
                "pages": run.pages,
            }
            for run in runs
        ],
        "growth": growth_of_steps(runs),
        "page_growth": growth_of_pages(runs),
    }


def growth_of_steps(runs: Sequence[Run]) -> dict[str, float]:
    """What an item takes at the last size ÷ at the first."""
    first, last = runs[0].steps, runs[-1].steps
    return {name: round(last[name].per_item / max(first[name].per_item, 1e-3), 2) for name in first}


def growth_of_pages(runs: Sequence[Run]) -> dict[str, float]:
    """What a page takes at the last size ÷ at the first."""
    first, last = runs[0].pages, runs[-1].pages
    return {
        name: round(last[name]["milliseconds"] / max(first[name]["milliseconds"], 0.1), 2) for name in first
    }
