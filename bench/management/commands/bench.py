"""`manage.py bench [NAME …] [--size small|full] [--data DIR] [--json]`: measure speed, against a limit.

Prints one object of figures by the benches' names; of one bench alone, its figures. `bench seed` measures
nothing: it fills the scratch database that others use. `bench quality` measures no speed but labels, of the
files that it is given: it stands alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from bench.mining.encoder_speed import NoFunctions
from bench.quality import labels
from bench.registry import BENCHES, DEFAULT, FED, SIZED, SIZES, Figures
from cosqa_site.service.startup import prepare_database
from retrieval.encoders import MissingWeights
from sandbox.runner import SandboxUnavailable


class Command(BaseCommand):
    help = "Measure speed. Figures are this machine's; the ratios can be compared."

    def add_arguments(self, parser: CommandParser) -> None:
        known = ", ".join(DEFAULT)
        parser.add_argument(
            "names",
            nargs="*",
            help=f"of {known} (default: all these), encoding (with --data), million, seed, or quality",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument("--data", type=Path, metavar="DIR", help="folder of real functions, for encoding")
        parser.add_argument("--size", choices=SIZES, default=SIZES[0], help="how many cases are there")
        labels.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if labels.NAME in options["names"]:
            self.stdout.write(self.quality(options))
            return
        names = options["names"] or [*DEFAULT, *(FED if options["data"] else ())]
        unknown = sorted(set(names) - set(BENCHES) - set(SIZED) - set(FED))
        if unknown:
            known = ", ".join([*DEFAULT, *FED])
            raise CommandError(
                f"no bench {', '.join(unknown)}; benches are {known}, million, seed and quality"
            )
        try:
            figures = {name: measure_bench(name, options["size"], options["data"]) for name in names}
        except (SandboxUnavailable, NoFunctions, MissingWeights) as why:
            raise CommandError(str(why)) from why
        found = figures[names[0]] if len(names) == 1 else figures
        self.stdout.write(json.dumps(found) if options["json"] else json.dumps(found, indent=2))

    def quality(self, options: dict[str, Any]) -> str:
        """What the bench of quality says. Raises CommandError."""
        if len(options["names"]) > 1:
            raise CommandError("bench quality stands alone: it measures labels, not speed.")
        prepare_database()  # a new data folder has no tables yet
        return labels.run_quality_bench(options)


def measure_bench(name: str, size: str, data: Path | None = None) -> Figures:
    """What one bench finds; the size matters to some, and a folder of real data to others."""
    if name in FED:
        return FED[name](size, data)
    return SIZED[name](size) if name in SIZED else BENCHES[name]()
