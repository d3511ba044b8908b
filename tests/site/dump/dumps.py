"""Makes dumps of the test's database, and empties it."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from django.core.management import call_command

from cosqa_site.dump.loader import load_dump
from cosqa_site.dump.manifest import NAME, Manifest
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


def load(folder: Path, home: Path, bar: Bar | None = None) -> Manifest:
    home.mkdir(exist_ok=True)
    return load_dump(folder, home, cast("Any", bar or Bar()))


def flush() -> None:
    """Empty all tables; keys go on, as they do after a test."""
    call_command("flush", interactive=False, verbosity=0, reset_sequences=False)


def change_manifest(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    told = json.loads((folder / NAME).read_text())
    change(told)
    (folder / NAME).write_text(json.dumps(told))


def rows_of(folder: Path, table: str) -> list[dict[str, Any]]:
    with gzip.open(folder / f"{table}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def change_rows(folder: Path, table: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Change each row of a table, and have the manifest agree with the file."""
    rows = rows_of(folder, table)
    for row in rows:
        change(row)
    write_rows(folder, table, rows)


def write_rows(folder: Path, table: str, rows: list[dict[str, Any]]) -> None:
    """Put these rows in the place of a table's, or into a new one."""
    path = folder / f"{table}.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    told = {"file": path.name, "rows": len(rows), "sha256": digest, "columns": list(rows[0])}
    change_manifest(folder, lambda manifest: manifest["tables"].update({table: told}))
