"""Speed, measured in one run on one machine and told as ratios against a limit measured beside it."""

from collections.abc import Callable, Mapping

from cosqa_site.benches import extraction, mining, pages, pipeline, review, sandbox, seeding

Figures = Mapping[str, object]
SIZES = ("small", "full")
SIZED: Mapping[str, Callable[[str], Figures]] = {
    "pages": pages.measure,
    "pipeline": pipeline.measure,
    "review": review.measure,
    "seed": seeding.measure,
}
BENCHES: Mapping[str, Callable[[], Figures]] = {
    "extraction": extraction.measure,
    "mining": mining.measure,
    "sandbox": sandbox.measure,
}
DEFAULT = (*BENCHES, "pages", "pipeline", "review")
