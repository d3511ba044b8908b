"""A whole home: its database, the files that people put there, and the secret key."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from django.db import connection

from cosqa_site.backup.databases import load_postgres, load_sqlite, path_of_sqlite, save_database
from cosqa_site.backup.manifest import BadBackup, Manifest, read_manifest, write_manifest
from cosqa_site.dump.folder import stage_folder
from cosqa_site.dump.home_files import FOLDERS, PLACE
from cosqa_site.service.applied_migrations import is_new, names_of_migrations

SECRETS: Final = ("secret-key", "demo-accounts.txt")
KEPT_FOLDERS: Final = (*FOLDERS, "uploads")
"""Vectors, packages of the sandbox and exports are made again."""


def make_backup(home: Path, folder: Path) -> Manifest:
    """Write a backup of `home` into the new `folder`, or nothing. Raises OSError and DatabaseError."""
    with stage_folder(folder) as stage:
        migrations = save_database(stage)
        for path in list_files(home):
            with suppress(FileNotFoundError):  # an upload that was imported meanwhile
                copy_file(path, stage / PLACE / path.relative_to(home))
        return write_manifest(stage, connection.vendor, migrations)


def list_files(home: Path) -> Iterator[Path]:
    yield from (home / name for name in SECRETS if (home / name).exists())
    for folder in KEPT_FOLDERS:
        yield from (path for path in sorted((home / folder).rglob("*")) if path.is_file())


def copy_file(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)
    if path.name in SECRETS:
        target.chmod(0o600)


def restore_backup(folder: Path, home: Path) -> Manifest:
    """Put a backup into a home that is new. Raises BadBackup before anything is changed, or OSError."""
    manifest = read_manifest(folder)
    refuse_other_release(manifest)
    refuse_used_home(home, manifest)
    for name in manifest.files:
        if name.startswith(f"{PLACE}/"):
            copy_file(folder / name, home / name.removeprefix(f"{PLACE}/"))
    if manifest.database == "sqlite":
        load_sqlite(folder)
    else:
        load_postgres(folder, manifest.migrations)
    return manifest


def refuse_other_release(manifest: Manifest) -> None:
    """Raises BadBackup."""
    if manifest.database != connection.vendor:
        raise BadBackup(
            f"This backup is of {manifest.database}, and the database here is {connection.vendor}. Set or "
            "unset DATABASE_URL, or move the rows by `export everything` and `import everything`."
        )
    known = {".".join(key) for key in names_of_migrations()}
    if unknown := sorted(set(manifest.migrations) - known):
        raise BadBackup(
            f"A newer release made this backup: it has the migration {unknown[-1]}, which this one does not "
            "know. Restore it with the release that made it, or a newer one."
        )


def refuse_used_home(home: Path, manifest: Manifest) -> None:
    """Raises BadBackup where something would be overwritten that is not this home's new secret key."""
    if manifest.database == "sqlite":
        names = [path_of_sqlite().name + ending for ending in ("", "-wal", "-shm")]
        there = next((home / name for name in names if (home / name).exists()), None)
    else:
        there = None if is_new() else Path(str(connection.settings_dict["NAME"]))
    if there:
        raise BadBackup(
            f"{there} is there already, and would be lost. Move it away, or set COSQA_HOME to a new folder "
            "(DATABASE_URL to a new database)."
        )
