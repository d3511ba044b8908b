"""`manage.py reproduce PIN`: compute pinned figures again, and say that they are equal, or what differs."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any, Final

from django.core.management.base import CommandParser

from annotation.management.reproduce_job import format_pinned_value, reproduce_from
from annotation.pins import Change, NoSuchPin, Reproduced, find_pin_by_hash
from annotation.pins.reproduce_order import Start
from retrieval.management.bars import open_bar
from retrieval.management.light import LightCommand

MOST_SHOWN: Final = 40
DIFFERS: Final = 3
"""The exit status where a figure is another one; 1 is an error."""


class Command(LightCommand):
    help = (
        "Compute a pin's figures again, from the ranked lists, labels and ratings that are stored and not "
        "from any figure that was kept, and compare. Ends with 0 where all are equal and with 3 where one "
        "differs. What was said of a study after the pin is left out."
    )
    refusals = (NoSuchPin,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("pin", help="its name, or at least six digits of its hash")
        parser.add_argument(
            "--from",
            dest="start",
            choices=Start.values,
            default=Start.LISTS.value,
            help="vectors: also search each run again, by the vectors that are stored here; replies: also "
            "read agents' stored replies again, of a build or of one that became a benchmark (%(default)s)",
        )
        parser.add_argument("--json", action="store_true", help="as JSON, with all that differs")

    def handle(self, *args: Any, **options: Any) -> None:
        pin = find_pin_by_hash(options["pin"])
        with open_bar(desc=pin.title[:60], unit="part", leave=False) as bar:

            def tick() -> None:
                bar.update()

            found = reproduce_from(pin, options["start"], tick)
        if options["json"]:
            self.stdout.write(json.dumps(serialize_reproduction(found), indent=1))
        else:
            self.tell(found)
        if not found.equal:
            sys.exit(DIFFERS)

    def tell(self, found: Reproduced) -> None:
        pin = found.pin
        self.stdout.write(f"{pin.name}: {pin.title}, pinned {pin.created_at:%Y-%m-%d %H:%M} UTC")
        self.stdout.write("equal" if found.equal else f"{len(found.changes):,} figures differ:")
        self.lines(found.changes)
        if found.grounds:
            self.stdout.write("What they rest on is not what it was:")
            self.lines(found.grounds)

        self.stdout.write("\n".join(found.notes), ending="\n" if found.notes else "")

    def lines(self, changes: tuple[Change, ...]) -> None:
        for change in changes[:MOST_SHOWN]:
            before, now = format_pinned_value(change.before), format_pinned_value(change.now)
            self.stdout.write(f"  {change.where}: was {before}, is {now}")
        if len(changes) > MOST_SHOWN:
            self.stdout.write(f"  and {len(changes) - MOST_SHOWN:,} more; --json has them all")


def serialize_reproduction(found: Reproduced) -> dict[str, Any]:
    return {
        "pin": found.pin.digest,
        "title": found.pin.title,
        "equal": found.equal,
        "differs": [asdict(change) for change in found.changes],
        "grounds": [asdict(ground) for ground in found.grounds],
        "notes": list(found.notes),
    }
