"""Files beside the database that belong to a dump: those that people put there.

Vectors, packages of the sandbox and finished exports are made again. Uploads wait for an import alone, and
the secret key and the demo's passwords are secrets.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from cosqa_site.dump.manifest import DumpedFile, digest_of_file

FOLDERS: Final = ("encoders", "quality", "recorded")
"""Descriptions of encoders, pairs with known labels, recorded replies."""
PLACE: Final = "files"
"""The folder of a dump that has them."""


def copy_home_files(home: Path, dump: Path) -> dict[str, DumpedFile]:
    """Copy them into `dump`; returns them by their path in the home."""
    return {str(path.relative_to(home)): copy_home_file(path, home, dump) for path in list_home_files(home)}


def list_home_files(home: Path) -> Iterator[Path]:
    for folder in FOLDERS:
        yield from (path for path in sorted((home / folder).rglob("*")) if path.is_file())


def copy_home_file(path: Path, home: Path, dump: Path) -> DumpedFile:
    target = dump / PLACE / path.relative_to(home)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)
    return DumpedFile(target.stat().st_size, digest_of_file(target))
