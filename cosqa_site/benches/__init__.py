"""Speed, measured in one run on one machine and told as ratios against a limit measured beside it."""

from collections.abc import Callable, Mapping

from cosqa_site.benches import mining, sandbox

Figures = Mapping[str, object]
BENCHES: Mapping[str, Callable[[], Figures]] = {"mining": mining.measure, "sandbox": sandbox.measure}
