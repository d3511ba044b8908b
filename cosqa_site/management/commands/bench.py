"""`manage.py bench [NAME …] [--size small|full] [--json]`: measure speed, as ratios against a limit.

Prints one object of figures by the benches' names; of one bench alone, its figures. `bench seed` measures
nothing: it fills the scratch database that others use.
"""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from cosqa_site.benches import BENCHES, DEFAULT, SIZED, SIZES, Figures
from sandbox.runner import SandboxUnavailable


class Command(BaseCommand):
    help = "Measure speed. Figures are this machine's; the ratios can be compared."

    def add_arguments(self, parser: CommandParser) -> None:
        known = ", ".join(DEFAULT)
        parser.add_argument("names", nargs="*", help=f"of {known} (default: all), or seed")
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument("--size", choices=SIZES, default=SIZES[0], help="how many cases are there")

    def handle(self, *args: Any, **options: Any) -> None:
        names = options["names"] or list(DEFAULT)
        unknown = sorted(set(names) - set(BENCHES) - set(SIZED))
        if unknown:
            raise CommandError(f"no bench {', '.join(unknown)}; benches are {', '.join(DEFAULT)}, and seed")
        try:
            figures = {name: measured(name, options["size"]) for name in names}
        except SandboxUnavailable as why:
            raise CommandError(str(why)) from why
        found = figures[names[0]] if len(names) == 1 else figures
        self.stdout.write(json.dumps(found) if options["json"] else json.dumps(found, indent=2))


def measured(name: str, size: str) -> Figures:
    """What one bench finds; the size matters to some."""
    return SIZED[name](size) if name in SIZED else BENCHES[name]()
