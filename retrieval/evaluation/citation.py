"""A published benchmark, or a pin of figures, as a paper's bibliography has it."""

from __future__ import annotations

from typing import Final

from retrieval.models import Benchmark, Pin
from retrieval.texts.latex import format_bibtex

PROGRAM: Final = "CoSQA Workbench"


def cite_benchmark(benchmark: Benchmark) -> str:
    """BibTeX of one version. Whoever publishes adds the authors and where it can be had."""
    return format_bibtex(
        f"{benchmark.name}-{benchmark.version}",
        {
            "title": f"{benchmark.name}, version {benchmark.version}: a code-search benchmark",
            "year": f"{benchmark.published_at:%Y}",
            "month": f"{benchmark.published_at:%b}".lower(),
            "howpublished": f"Published with {PROGRAM}",
            "note": f"{benchmark.size:,} labels; sha256 {benchmark.digest}",
        },
    )


def cite_pin(pin: Pin) -> str:
    """BibTeX of pinned figures."""
    return format_bibtex(
        f"pin-{pin.name}",
        {
            "title": pin.title,
            "year": f"{pin.created_at:%Y}",
            "month": f"{pin.created_at:%b}".lower(),
            "howpublished": f"Figures pinned with {PROGRAM}",
            "note": f"sha256 {pin.digest}; cosqa admin reproduce {pin.name} computes them again",
        },
    )
