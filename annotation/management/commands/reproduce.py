"""`manage.py reproduce PIN`: compute a pinned figure again, and say whether it is equal."""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.pinning import NoSuchPin, Reproduced, named, reproduce


class Command(BaseCommand):
    help = (
        "Compute a pinned figure again from stored lists, labels and ratings: say equal, or what differs "
        "(then with code 1). Nothing that was kept of a figure is read."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("pin", help="the first digits of its hash")
        parser.add_argument("--json", action="store_true", help="as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = reproduce(named(options["pin"]))
        except NoSuchPin as why:
            raise CommandError(str(why)) from why
        self.stdout.write(json.dumps(as_json(found), indent=2) if options["json"] else told(found))
        if not found.equal:
            sys.exit(1)


def as_json(found: Reproduced) -> dict[str, Any]:
    return {
        "pin": found.pin.name,
        "title": found.pin.title,
        "equal": found.equal,
        "then": found.pin.value,
        "now": found.value,
        "differences": list(found.differences),
        "remarks": list(found.remarks),
    }


def told(found: Reproduced) -> str:
    verdict = "equal" if found.equal else "differs"
    lines = [f"{found.pin.name}: {found.pin.title}: {verdict}"]
    lines += [f"  {line}" for line in found.differences]
    lines += [f"  beside it: {line}" for line in found.remarks]
    return "\n".join(lines)
