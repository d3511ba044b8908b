"""`backup.json`: what a backup holds, with the sha256 of each of its files."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, Final

from cosqa_site.dump.manifest import DumpedFile, digest_of_file, find_commit, find_version
from retrieval.texts.small_files import read_small_json

NAME: Final = "backup.json"
FORMAT: Final = "cosqa-workbench backup 1"
COPY_AGAIN: Final = "Copy the folder again, or take another backup"


class BadBackup(ValueError):
    """The folder can't be restored; the message says why and what to do."""


@dataclass(frozen=True)
class Manifest:
    """The kind of database, the migrations that made it, and the backup's files by their path in it."""

    database: str
    migrations: list[str]
    files: dict[str, DumpedFile]

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files.values())


def describe_file(path: Path) -> DumpedFile:
    return DumpedFile(path.stat().st_size, digest_of_file(path))


def write_manifest(folder: Path, database: str, migrations: list[str]) -> Manifest:
    """Describe all files that lie in `folder`."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    files = {path.relative_to(folder).as_posix(): describe_file(path) for path in paths}
    manifest = Manifest(database, migrations, files)
    told = {
        "format": FORMAT,
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "software": {"version": find_version(), "commit": find_commit()},
        **asdict(manifest),
    }
    (folder / NAME).write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    return manifest


def read_manifest(folder: Path) -> Manifest:
    """What a backup says of itself, once its files are seen to be whole. Raises BadBackup."""
    manifest = parse_manifest(folder)
    for name, file in manifest.files.items():
        refuse_damaged_file(folder, name, file)
    return manifest


def parse_manifest(folder: Path) -> Manifest:
    """Raises BadBackup."""
    path = folder / NAME
    try:
        told: Any = read_small_json(path)
        if told.pop("format") != FORMAT:
            raise BadBackup(f"{path} is of another format: restore it with the release that made it.")
        files = {name: DumpedFile(**file) for name, file in told["files"].items()}
        return Manifest(str(told["database"]), [str(name) for name in told["migrations"]], files)
    except OSError as why:
        raise BadBackup(f"{folder} is no backup: {NAME} can't be read ({why.strerror}).") from why
    except BadBackup:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as why:
        raise BadBackup(f"{path} is not as `backup` writes it ({why!r}). {COPY_AGAIN}.") from why


def refuse_damaged_file(folder: Path, name: str, file: DumpedFile) -> None:
    """Raises BadBackup, also for a path that leads out of the folder."""
    if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
        raise BadBackup(f"{folder / NAME} names the file {name!r}, which is none of a backup. {COPY_AGAIN}.")
    try:
        found = describe_file(folder / name)
    except OSError as why:
        raise BadBackup(f"{folder / name} can't be read ({why.strerror}). {COPY_AGAIN}.") from why
    if found != file:
        raise BadBackup(f"{folder / name} was changed since it was written. {COPY_AGAIN}.")
