"""The steps that were taken, kept in a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.million.processes import Cost


@dataclass(frozen=True, slots=True)
class Step:
    """What a step took: seconds of a processor and by the clock, and MiB in memory at most.

    `items` is what it is divided by: functions read, queries asked, pairs written.
    """

    name: str
    items: int
    cpu: float
    seconds: float
    peak_mb: int

    @property
    def per_item(self) -> float:
        """Microseconds of a processor for each item."""
        return 1e6 * self.cpu / self.items


class Journal:
    """The steps that were taken: one that was is not taken again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        kept = json.loads(path.read_text("ascii")) if path.exists() else []
        self.steps = {one["name"]: Step(**one) for one in kept}

    def take(self, name: str, items: int, work: Callable[[], Cost]) -> None:
        """Take a step unless it was taken."""
        if name in self.steps:
            return
        cpu, seconds, peak_mb = work()
        self.steps[name] = Step(name, items, round(cpu, 2), round(seconds, 2), peak_mb)
        self.path.write_text(json.dumps([asdict(one) for one in self.steps.values()], indent=1), "ascii")
