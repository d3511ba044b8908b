"""Which migrations a database has, told without what they change."""

from __future__ import annotations

from pathlib import Path
from pkgutil import iter_modules

from django.apps import apps
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder


class DatabaseNotReady(Exception):
    """The database did not answer, or lacked its migrations, for as long as a start waits."""


def is_database_migrated() -> bool:
    """Whether no migration is left to apply.

    Nearly always all of them are applied by name; the files themselves are loaded where one is not.
    """
    if names_of_migrations() <= MigrationRecorder(connection).applied_migrations().keys():
        return True
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def names_of_migrations() -> set[tuple[str, str]]:
    """(app, migration) of every migration that is installed, by the files' names alone."""
    folders = ((app.label, Path(app.path) / "migrations") for app in apps.get_app_configs())
    return {
        (label, name)
        for label, folder in folders
        for _, name, is_package in iter_modules([str(folder)])
        if not is_package and name[0] not in "_~"
    }


def is_new() -> bool:
    """Whether nobody has made tables in the database yet."""
    return not MigrationRecorder(connection).has_table()
