"""All tables of a database that is new, made at once as the last migration leaves them.

Step by step Django builds most models anew in memory at each change of a table, which takes seconds.
"""

from __future__ import annotations

from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.migration import Migration

from cosqa_site.service.startup import OWN_APPS
from retrieval.migrations._at_once import RunOnNewToo


def make_tables_at_once(database: str) -> bool:
    """Apply all migrations of our apps in one go, after those of others; False where some are applied."""
    connection: Any = connections[database]
    executor = MigrationExecutor(connection)
    if any(app in OWN_APPS for app, _ in executor.loader.applied_migrations):
        return False
    leaves = executor.loader.graph.leaf_nodes()
    executor.migrate([key for key in leaves if key[0] not in OWN_APPS])
    own = [key for key in leaves if key[0] in OWN_APPS]
    plan = [migration for migration, _ in MigrationExecutor(connection).migration_plan(own)]
    state = executor.loader.project_state(leaves)
    with connection.schema_editor() as editor:
        create_models(state.apps, editor, connection)
        for migration in plan:
            run_on_new(migration, state.apps, editor)
            executor.recorder.record_applied(migration.app_label, migration.name)
    return True


def create_models(apps: Any, editor: BaseDatabaseSchemaEditor, connection: BaseDatabaseWrapper) -> None:
    """In any order: keys to tables that come later are made at the end."""
    for app in OWN_APPS:
        for model in apps.get_app_config(app).get_models():
            if model._meta.can_migrate(connection) and not model._meta.proxy:
                editor.create_model(model)


def run_on_new(migration: Migration, apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
    for operation in migration.operations:
        if isinstance(operation, RunOnNewToo):
            operation.code(apps, editor)
