"""A database that came step by step and one that was made at once have the same tables."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEP_BY_STEP = """
import django
django.setup()
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

executor = MigrationExecutor(connection)
executor.loader = MigrationLoader(connection, replace_migrations=False)
at_once = [("annotation", "0001_squashed_0042"), ("retrieval", "0001_squashed_0027")]
executor.migrate([executor.loader.get_migration(*name).replaces[-1] for name in at_once])
call_command("migrate", verbosity=0)
"""
AT_ONCE = """
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
"""


def made(folder: Path, code: str) -> sqlite3.Connection:
    known = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    known |= {"COSQA_HOME": str(folder), "DJANGO_SETTINGS_MODULE": "cosqa_site.settings"}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=known, check=True, timeout=300)
    return sqlite3.connect(folder / "workbench.sqlite3")


def tables(database: sqlite3.Connection) -> dict[str, set[tuple[object, ...]]]:
    """By table its columns: name, whether it may be null, default, whether it is the key."""
    names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {
        name: {(row[1], *row[3:]) for row in database.execute(f"PRAGMA table_info('{name}')")}
        for name in names
    }


def indexes(database: sqlite3.Connection) -> set[tuple[str, str]]:
    found = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    return set(database.execute(found))


def rows(database: sqlite3.Connection) -> dict[str, int]:
    """How many rows the tables begin with, except those that say which migrations ran."""
    return {
        name: database.execute(f"SELECT COUNT(*) FROM '{name}'").fetchone()[0]
        for name in tables(database)
        if name not in {"django_migrations", "sqlite_sequence"}
    }


def test_both_ways_lead_to_the_same_database(tmp_path: Path) -> None:
    slowly, at_once = made(tmp_path / "slowly", STEP_BY_STEP), made(tmp_path / "at-once", AT_ONCE)
    assert tables(slowly) == tables(at_once)
    assert indexes(slowly) == indexes(at_once)
    assert rows(slowly) == rows(at_once)
    slowly.close()
    at_once.close()
