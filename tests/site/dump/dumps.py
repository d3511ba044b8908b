"""Makes dumps of the test's database."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, cast

from cosqa_site.dump.manifest import Manifest
from cosqa_site.dump.writer import write_dump


class Bar:
    """What is told of the progress."""

    total = done = 0

    def reset(self, total: int) -> None:
        self.total = total

    def update(self, rows: int = 1) -> None:
        self.done += rows


def dump(folder: Path, home: Path, bar: Bar | None = None) -> Manifest:
    home.mkdir(exist_ok=True)
    return write_dump(home, folder, cast("Any", bar or Bar()))


def rows_of(folder: Path, table: str) -> list[dict[str, Any]]:
    with gzip.open(folder / f"{table}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]
