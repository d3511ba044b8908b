"""The index by which PostgreSQL finds parts of queries. The only vendor SQL of this app is here.

SQLite has none: a search reads the narrow rows of the queries alone, which takes it some milliseconds.
"""

from __future__ import annotations

from typing import Final

from django.apps.registry import Apps
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

MAY_HAVE: Final = """
SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm')
  OR (EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm')
      AND has_database_privilege(current_database(), 'CREATE'))"""
INDEX: Final = "query_text_trigrams"
MAKE: Final = f"CREATE INDEX {INDEX} ON retrieval_querytext USING gin (folded gin_trgm_ops)"


def make_index(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """For the migration. A server that lacks the extension goes without the index: searches stay right."""
    connection = schema_editor.connection
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute(MAY_HAVE)
        if not cursor.fetchone()[0]:
            return
        cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
        cursor.execute(MAKE)


def drop_index(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """What `make_index` made; the extension stays, as others may use it."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"DROP INDEX IF EXISTS {INDEX}")
