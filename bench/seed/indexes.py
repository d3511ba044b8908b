"""Tables without their indexes while they are filled: sorting once is faster than keeping sorted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from django.db import connection

CONSTRAINTS: Final = """
SELECT 'ALTER TABLE ' || conrelid::regclass || ' DROP CONSTRAINT ' || quote_ident(conname),
       'ALTER TABLE ' || conrelid::regclass || ' ADD CONSTRAINT ' || quote_ident(conname) || ' '
         || pg_get_constraintdef(oid)
FROM pg_constraint
WHERE contype IN ('f', 'p', 'u') AND (conrelid = ANY(%s::regclass[]) OR confrelid = ANY(%s::regclass[]))
ORDER BY contype <> 'f', conname"""
"""References first: they need the keys."""
INDEXES: Final = """
SELECT 'DROP INDEX ' || quote_ident(indexname), indexdef FROM pg_indexes
WHERE tablename = ANY(%s)
  AND indexname NOT IN (SELECT conname FROM pg_constraint WHERE contype IN ('p', 'u'))
ORDER BY indexname"""
ON_SQLITE: Final = """
SELECT 'DROP INDEX "' || name || '"', sql FROM sqlite_master
WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN (SELECT value FROM json_each(%s)) ORDER BY name"""
Statements = list[tuple[str, str]]
"""Pairs: what takes one away, what makes it again."""


@contextmanager
def suspend_table_indexes(tables: Sequence[str]) -> Iterator[None]:
    """Until the block ends the tables have no keys and no indexes; then all are made again.

    With PostgreSQL making the references again checks them. If the block raises, the tables stay bare: what
    is half filled is thrown away.
    """
    taken = find_index_statements(list(tables))
    run_index_statements(drop for drop, _ in taken)
    yield
    makes = [make for _, make in reversed(taken)]
    if connection.vendor == "postgresql":
        makes = ["SET maintenance_work_mem = '256MB'", *makes, "RESET maintenance_work_mem"]
    run_index_statements(makes)


def find_index_statements(tables: list[str]) -> Statements:
    """In the order in which they can be taken away."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(ON_SQLITE, [json.dumps(tables)])
            return list(cursor.fetchall())
        cursor.execute(CONSTRAINTS, [tables, tables])
        constraints = list(cursor.fetchall())
        cursor.execute(INDEXES, [tables])
        return [*constraints, *cursor.fetchall()]


def run_index_statements(statements: Iterable[str]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
