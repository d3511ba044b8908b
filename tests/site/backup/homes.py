"""Homes of their own for backups, on the kind of database that these tests use."""

from __future__ import annotations

import gzip
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from django.db import connection

ROOT = Path(__file__).resolve().parents[3]
DATABASE = "cosqa_backup_restored"


@contextmanager
def new_home(path: Path) -> Iterator[dict[str, str]]:
    """The environment of a home without a database; one of PostgreSQL's is made for it, and removed."""
    services = {"DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL"}
    kept = {name: value for name, value in os.environ.items() if name not in services}
    if connection.vendor == "sqlite":
        yield kept | {"COSQA_HOME": str(path)}
        return
    told = connection.settings_dict
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        cursor.execute(f"CREATE DATABASE {DATABASE}")
        user = f"{quote(told['USER'])}:{quote(told['PASSWORD'])}"
        url = f"postgres://{user}@{told['HOST']}:{told['PORT'] or 5432}/{DATABASE}"
        yield kept | {"COSQA_HOME": str(path), "DATABASE_URL": url}
        cursor.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")


def manage(environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def rows_of(backup: Path) -> dict[str, list[str]]:
    """Every row of a backup's database as text, by its table."""
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(backup / "workbench.sqlite3")) as link:
            names = [name for (name,) in link.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            return {name: sorted(map(repr, link.execute(f'SELECT * FROM "{name}"'))) for name in names}
    files = (backup / "tables").iterdir()
    return {file.name.removesuffix(".copy.gz"): sorted(lines_of(file)) for file in files}


def lines_of(file: Path) -> list[str]:
    with gzip.open(file, "rt") as lines:
        return list(lines)[1:]
