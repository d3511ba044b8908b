"""The database of a backup: SQLite's file as it is at one moment, or the rows of PostgreSQL's tables."""

from __future__ import annotations

import gzip
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from django.apps import apps
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.migrations.recorder import MigrationRecorder

from cosqa_site.backup.manifest import BadBackup
from cosqa_site.dump.loader import reset_sequences
from cosqa_site.dump.snapshot import hold_snapshot
from cosqa_site.service.applied_migrations import names_of_migrations

FILE: Final = "workbench.sqlite3"
TABLES: Final = "tables"
"""The folder of PostgreSQL's tables: a file each, in gzip, as COPY writes text."""
SUFFIX: Final = ".copy.gz"
CHUNK_BYTES: Final = 2**20


def list_migrations() -> list[str]:
    """Those that the database has, as `app.name`."""
    return sorted(".".join(key) for key in MigrationRecorder(connection).applied_migrations())


def save_database(folder: Path) -> list[str]:
    """Write the database as it is now, while others go on; returns its migrations."""
    if connection.vendor == "sqlite":
        return save_sqlite(folder / FILE)
    return save_postgres(folder / TABLES)


def save_sqlite(target: Path) -> list[str]:
    """One file, without free pages. Raises DatabaseError, also where what was written is damaged."""
    migrations = list_migrations()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(target)])
    with closing(sqlite3.connect(target)) as link:
        [(told,)] = link.execute("PRAGMA quick_check(1)")
    if told != "ok":
        raise DatabaseError(f"the database is damaged: {told}")
    return migrations


def path_of_sqlite() -> Path:
    return Path(str(connection.settings_dict["NAME"]))


def save_postgres(folder: Path) -> list[str]:
    """All tables in one state of the database."""
    folder.mkdir()
    with hold_snapshot():
        for table in connection.introspection.table_names():
            save_table(table, folder)
        return list_migrations()


def save_table(table: str, folder: Path) -> None:
    """The first line names the columns; COPY's text follows."""
    with connection.cursor() as cursor, gzip.open(folder / f"{table}{SUFFIX}", "wb", compresslevel=3) as file:
        described = connection.introspection.get_table_description(cursor, table)
        columns = quoted(column.name for column in described)
        file.write(f"{columns}\n".encode())
        with cursor.copy(f"COPY {quoted([table])} ({columns}) TO STDOUT") as rows:
            for some in rows:
                file.write(some)


def quoted(names: Iterable[str]) -> str:
    return ", ".join(connection.ops.quote_name(name) for name in names)


def load_sqlite(folder: Path) -> None:
    """Put the file in its place."""
    target = path_of_sqlite()
    part = target.with_name(f"{target.name}.part")
    try:
        part.touch(mode=0o600)
        shutil.copyfile(folder / FILE, part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def load_postgres(folder: Path, migrations: list[str]) -> None:
    """Make the tables as they were, fill them, then bring them up to date."""
    migrate_to(migrations)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {quoted(connection.introspection.table_names())}")
        for file in sorted((folder / TABLES).glob(f"*{SUFFIX}")):
            load_table(file, cursor)
    call_command("migrate", verbosity=0, interactive=False)
    reset_sequences(apps.get_models(include_auto_created=True))


def migrate_to(migrations: list[str]) -> None:
    """Make the tables as these migrations leave them; at once, where this release has no others."""
    if {".".join(key) for key in names_of_migrations()} <= set(migrations):
        call_command("migrate", verbosity=0, interactive=False)
    else:
        for app in sorted({name.partition(".")[0] for name in migrations}):
            last = max(name.partition(".")[2] for name in migrations if name.startswith(f"{app}."))
            call_command("migrate", app, last, verbosity=0, interactive=False)
    missing = set(migrations) - set(list_migrations())
    if missing:
        raise BadBackup(f"These migrations could not be made: {', '.join(sorted(missing))}.")


def load_table(file: Path, cursor: Any) -> None:
    table = file.name.removesuffix(SUFFIX)
    with gzip.open(file, "rb") as rows:
        columns = rows.readline().decode().strip()
        with cursor.copy(f"COPY {quoted([table])} ({columns}) FROM STDIN") as copy:
            while some := rows.read(CHUNK_BYTES):
                copy.write(some)
