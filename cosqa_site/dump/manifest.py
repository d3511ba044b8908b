"""`everything.json`: what a dump holds, with the sha256 of each of its files, and what it was made by."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from cosqa_site.dump.tables import LEFT_OUT

NAME: Final = "everything.json"
FORMAT: Final = "cosqa-workbench everything"
FORMAT_VERSION: Final = 1


@dataclass(frozen=True)
class DumpedTable:
    """A table's file: JSON Lines in gzip, an object a row."""

    file: str
    rows: int
    sha256: str
    columns: list[str]


@dataclass(frozen=True)
class DumpedFile:
    """A file of the home that no table holds."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """Tables by app and model, files by their path in the home."""

    tables: dict[str, DumpedTable]
    files: dict[str, DumpedFile]

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables.values())

    def as_json(self) -> dict[str, Any]:
        """What is written; call it while the database is still as it was read."""
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "software": {"version": find_version(), "commit": find_commit()},
            "database": connection.vendor,
            "migrations": sorted(".".join(key) for key in MigrationRecorder(connection).applied_migrations()),
            **asdict(self),
            "left_out": LEFT_OUT,
        }


def digest_of_file(path: Path) -> str:
    """sha256 (hex) of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_version() -> str | None:
    """The release that is installed; None where it runs without being installed."""
    try:
        return version("cosqa-workbench")
    except PackageNotFoundError:
        return None


def find_commit() -> str | None:
    """The commit that is checked out; None where this is no checkout, or Git is missing."""
    git = shutil.which("git")
    if git is None or not (settings.BASE_DIR / ".git").exists():
        return None
    command = [git, "-C", str(settings.BASE_DIR), "rev-parse", "HEAD"]
    told = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    return told.stdout.strip() or None
