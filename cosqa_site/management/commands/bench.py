"""`manage.py bench [NAME …] [--json]`: measure speed, as ratios against a limit measured in the same run.

Prints one object of figures by the benches' names; of one bench alone, its figures.
"""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from cosqa_site.benches import BENCHES
from sandbox.runner import SandboxUnavailable


class Command(BaseCommand):
    help = "Measure speed. Figures are this machine's; the ratios can be compared."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("names", nargs="*", help=f"of {', '.join(BENCHES)} (default: all)")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        names = options["names"] or list(BENCHES)
        unknown = sorted(set(names) - set(BENCHES))
        if unknown:
            raise CommandError(f"no bench {', '.join(unknown)}; benches are {', '.join(BENCHES)}")
        try:
            figures = {name: BENCHES[name]() for name in names}
        except SandboxUnavailable as why:
            raise CommandError(str(why)) from why
        found = figures[names[0]] if len(names) == 1 else figures
        self.stdout.write(json.dumps(found) if options["json"] else json.dumps(found, indent=2))
