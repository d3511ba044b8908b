"""Loads a dump into a home that knows nothing yet: all of it, or nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Final

from django.contrib.auth.hashers import make_password
from django.core.management.color import no_style
from django.db import connection, models, transaction
from tqdm import tqdm

from annotation.models import Case
from annotation.models.reviews.labels_in_force import recount_labels_in_force
from cosqa_site.dump.home_files import PLACE
from cosqa_site.dump.manifest import DumpedTable, Manifest
from cosqa_site.dump.reader import BadDump, read_manifest, read_rows, refuse_damaged_files
from cosqa_site.dump.renames import LOOKED_UP, current_column, current_table
from cosqa_site.dump.tables import Table, columns_of, tables_of_dump
from cosqa_site.dump.values import decoder_of
from retrieval.models import statements

ROWS_AT_ONCE: Final = 500
"""As many as memory holds: a row of a wide text may have some hundred kilobytes."""
STARTING: Final[Mapping[str, Mapping[str, Any]]] = {
    "annotation.projecttally": {"cap": None, "reserved": 0, "spent": 0},
    "auth.group": {"name__in": ("reader", "expert", "admin")},
}
"""Rows that migrations make: those of the dump take their places."""

Convert = Callable[[Any], Any]
Make = Callable[[Sequence[Any]], Any]
"""Makes a value of a row's values in the dump."""


class HomeInUse(ValueError):
    """The home has rows already; the message says where."""


@dataclass(frozen=True)
class Plan:
    """How a table is loaded: its columns in the order of the dump, then those that the dump has not."""

    table: Table
    dumped: DumpedTable
    fields: list[models.Field[Any, Any]]
    added: dict[str, Make]

    @property
    def columns(self) -> list[str]:
        return [*(field.name for field in self.fields), *self.added]


def load_dump(folder: Path, home: Path, bar: tqdm[Any]) -> Manifest:
    """Load all rows and files; `bar` tells rows. Raises BadDump, HomeInUse, DatabaseError or OSError."""
    manifest = read_manifest(folder)
    plans = plan_tables(manifest)
    refuse_damaged_files(manifest, folder)
    bar.reset(manifest.rows)
    with connection.constraint_checks_disabled(), transaction.atomic():
        refuse_used_home(manifest, home)
        remove_starting_rows()
        for plan in plans:
            load_table(plan, folder, bar)
        reset_sequences([plan.table for plan in plans])
        connection.check_constraints()
        refuse_other_counts(plans)
        recount_missing_columns(plans)
        restore_home_files(manifest, folder, home)
    return manifest


def recount_missing_columns(plans: Sequence[Plan]) -> None:
    """Dumps from before 28 November 2026 have no label in force: it follows from their labels."""
    if any(plan.table is Case and "label_in_force" not in {f.name for f in plan.fields} for plan in plans):
        recount_labels_in_force()


def plan_tables(manifest: Manifest) -> list[Plan]:
    """Raises BadDump for a table or a column that is not there any more, or that is missing."""
    tables = tables_of_dump()
    plans = []
    for name, dumped in manifest.tables.items():
        table = tables.get(current_table(name))
        if table is None:
            raise BadDump(f"The dump has a table {name}, which this release does not know.")
        plans.append(plan_table(table, dumped, LOOKED_UP.get(name, {})))
    return plans


def plan_table(table: Table, dumped: DumpedTable, looked_up: Mapping[str, tuple[str, str, str]]) -> Plan:
    name = table._meta.label_lower
    fields = {field.name: field for field in columns_of(table)}
    columns = [current_column(name, column) for column in dumped.columns]
    unknown = sorted(set(columns) - fields.keys())
    if unknown:
        raise BadDump(f"The dump's {name} has columns that this release does not know: {', '.join(unknown)}.")
    found = {
        column: look_up(dumped.columns.index(pointer), tables_of_dump()[of], value)
        for column, (pointer, of, value) in looked_up.items()
        if pointer in dumped.columns
    }
    added = plan_added_columns(table, {*columns, *found})
    return Plan(table, dumped, [fields[column] for column in columns], found | added)


def look_up(place: int, table: Table, column: str) -> Make:
    """What finds a row's value in the row of `table` to which its column at `place` points.

    That table was loaded before; it is read once, and is to be small.
    """

    @cache
    def read_values() -> dict[Any, Any]:
        return dict(table._base_manager.values_list("pk", column))

    return lambda row: read_values().get(row[place])


def plan_added_columns(table: Table, given: set[str]) -> dict[str, Make]:
    """What makes a value of each column that the dump has not and the database does not fill itself."""
    added: dict[str, Make] = {}
    for field in table._meta.concrete_fields:
        if field.name in given or field.has_db_default() or isinstance(field, models.AutoField):
            continue
        if table._meta.label_lower == "auth.user" and field.name == "password":
            added[field.name] = lambda _: make_password(None)
        elif field.has_default() or field.null:
            added[field.name] = maker_of_default(field)
        else:
            raise BadDump(f"The dump's {table._meta.label_lower} lacks the column {field.name}.")
    return added


def maker_of_default(field: models.Field[Any, Any]) -> Make:
    store = storer_of(field)
    return lambda _: store(field.get_default())


def storer_of(field: models.Field[Any, Any]) -> Convert:
    """What makes of a value what `statements.insert_all` takes."""
    if isinstance(field, models.JSONField):
        return lambda value: None if value is None else json.dumps(value)
    if isinstance(field, models.UUIDField | models.DecimalField):
        return lambda value: None if value is None else field.get_db_prep_save(value, connection)
    return lambda value: value


def refuse_used_home(manifest: Manifest, home: Path) -> None:
    """Raises HomeInUse."""
    used = [
        name
        for name, table in tables_of_dump().items()
        if without_starting_rows(name, table._base_manager.all()).exists()
    ]
    if used:
        named = ", ".join(used[:5]) + (" …" if len(used) > 5 else "")
        raise HomeInUse(
            f"This home is in use: there are rows in {named}. Load the dump into a new one: set COSQA_HOME "
            "to a new folder, or DATABASE_URL to a new database."
        )
    there = [path for path in manifest.files if (home / path).exists()]
    if there:
        raise HomeInUse(
            f"{home / there[0]} is there already. Move it away, or set COSQA_HOME to a new folder."
        )


def without_starting_rows(name: str, rows: models.QuerySet[Any]) -> models.QuerySet[Any]:
    return rows.exclude(**STARTING[name]) if name in STARTING else rows


def remove_starting_rows() -> None:
    tables = tables_of_dump()
    for name in STARTING:
        tables[name]._base_manager.all().delete()


def load_table(plan: Plan, folder: Path, bar: tqdm[Any]) -> None:
    rows = convert_rows(plan, read_rows(folder / plan.dumped.file, plan.dumped.columns))
    while some := list(islice(rows, ROWS_AT_ONCE)):
        statements.insert_all(plan.table, plan.columns, some)
        bar.update(len(some))


def convert_rows(plan: Plan, rows: Iterator[list[Any]]) -> Iterator[Sequence[Any]]:
    """The rows as they are stored, with what is added to each."""
    converters = [converter_of(field) for field in plan.fields]
    added = list(plan.added.values())
    for row in rows:
        values = [
            value if value is None or convert is None else convert(value)
            for convert, value in zip(converters, row, strict=True)
        ]
        yield [*values, *(make(row) for make in added)]


def converter_of(field: models.Field[Any, Any]) -> Convert | None:
    """From JSON to what is stored; None where that is the same."""
    decode, store = decoder_of(field), storer_of(field)
    if decode is not None:
        return lambda value: store(decode(value))
    return store if isinstance(field, models.JSONField) else None


def reset_sequences(tables: Iterable[type[models.Model]]) -> None:
    """New rows get keys after those that were loaded. SQLite sees to that itself."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), list(tables)):
            cursor.execute(statement)


def refuse_other_counts(plans: Sequence[Plan]) -> None:
    """Raises BadDump where a table has another number of rows than the dump says of what became it."""
    for table, some in groupby(sorted(plans, key=name_of_table), key=lambda plan: plan.table):
        dumped = [plan.dumped for plan in some]
        found, told = table._base_manager.count(), sum(one.rows for one in dumped)
        if found != told:
            files = " and ".join(one.file for one in dumped)
            raise BadDump(f"{files} {'has' if len(dumped) == 1 else 'have'} {found:,} rows, not {told:,}.")


def name_of_table(plan: Plan) -> str:
    return plan.table._meta.label_lower


def restore_home_files(manifest: Manifest, folder: Path, home: Path) -> None:
    for path in manifest.files:
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / PLACE / path, home / path)
