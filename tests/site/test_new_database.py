"""A new database, whose tables are made at once, is what all migrations make of one step by step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from pytest_django import DjangoDbBlocker

from bench.measure.scratch_database import Scratch
from cosqa_site.service.new_database import make_tables_at_once

QUERIES = {
    "postgresql": {
        "columns": "SELECT table_name, column_name, data_type, character_maximum_length, is_nullable, "
        "column_default, is_identity FROM information_schema.columns WHERE table_schema = 'public'",
        "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
        "constraints": "SELECT conname, conrelid::regclass::text, pg_get_constraintdef(oid) "
        "FROM pg_constraint WHERE connamespace = 'public'::regnamespace",
        "triggers": "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
        "functions": "SELECT prosrc FROM pg_proc WHERE proname = 'tell_of_work'",
    },
    "sqlite": {"tables, indexes and triggers": "SELECT type, name, sql FROM sqlite_master"},
}
FILLED = "SELECT count(*) FROM auth_group", "SELECT count(*) FROM annotation_projecttally"


@pytest.fixture
def scratch(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[Scratch]:
    """An empty database beside the one of the tests."""
    monkeypatch.setattr(settings, "COSQA_HOME", tmp_path)
    made = Scratch("steps")
    with django_db_blocker.unblock():
        made.drop()
        made.begin()
        try:
            yield made
        finally:
            made.drop()
            connection.close()


def described() -> dict[str, list[str]]:
    """What is in the database, its columns in the order of their names, and the rows that migrations make."""
    found = {"migrations": sorted(map(str, MigrationRecorder(connection).applied_migrations()))}
    queries = QUERIES[connection.vendor] | {query: query for query in FILLED}
    with connection.cursor() as cursor:
        for name, query in queries.items():
            cursor.execute(query)
            found[name] = sorted(part for row in cursor.fetchall() for part in parts_of(row))
    return found


def parts_of(row: tuple[Any, ...]) -> list[str]:
    """A row as one text; SQLite's statement of a table as one for each column and constraint."""
    if row[0] == "table" and row[2]:
        return [f"{row[1]}: {part}" for part in re.split(r", (?=\"|CONSTRAINT )", row[2][:-1])]
    return [str(row)]


def test_a_new_database_is_what_all_migrations_make_step_by_step(scratch: Scratch) -> None:
    with scratch.entered():
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())
        steps = described()
        assert not make_tables_at_once("default"), "one that has some is brought up to date step by step"
    scratch.drop()
    scratch.begin()
    with scratch.entered():
        call_command("migrate", verbosity=0)
        at_once = described()
    assert {
        name: set(at_once[name]) ^ set(steps[name]) for name in steps if at_once[name] != steps[name]
    } == {}
    assert [at_once[query] for query in FILLED] == [["(3,)"], ["(1,)"]]
