"""The few statements of every call and every move, composed once and not each time.

Composing an UPDATE of one row takes the ORM eight times as long as sending it, and a build at full speed
makes hundreds a second. These are plain SQL of both databases, and rows and columns are named by their
models; whatever is not hot stays with the ORM.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.db import connection, models

Kind = type[models.Model]


def update_rows(
    kind: Kind,
    where: Mapping[str, Any],
    *,
    put: Mapping[str, Any] | None = None,
    grow: Mapping[str, int] | None = None,
    provided: str = "",
    values: Sequence[Any] = (),
) -> int:
    """Change the rows of `kind` whose columns equal `where`; returns how many there were.

    `put` are new values, `grow` is added to what is there; both and `where` are named by fields. `provided`
    is a further condition in SQL of both databases, with its `values`.
    """
    columns, amounts = {**(put or {})}, dict(grow or {})
    statement = _update(kind, tuple(columns), tuple(amounts), _shape(where), provided, connection.vendor)
    told = [*_stored(kind, columns), *amounts.values()]
    return _execute(statement, [*told, *_stored(kind, _given(where)), *values])


def insert_row(row: models.Model, *, unless_there: bool = False) -> bool:
    """Store a new `row`, which gets its key; False where one is there already and that is no error."""
    kind = type(row)
    values = [
        field.get_db_prep_save(field.pre_save(row, add=True), connection) for field in _stored_fields(kind)
    ]
    with connection.cursor() as cursor:
        cursor.execute(_insert(kind, unless_there, connection.vendor), values)
        made = cursor.fetchone()
    if made is not None:
        row.pk, row._state.adding, row._state.db = made[0], False, connection.alias
    return made is not None


def insert_all(
    kind: Kind, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, unless_there: bool = False
) -> None:
    """Store new `rows`, each its `columns` by the fields' names; several times as fast as the ORM's way.

    Every column that has no default of the database is to be given; values are as the database holds them:
    numbers, texts, bytes, JSON as text, but moments as `datetime`. With `unless_there` a row that a unique
    key forbids is left out. Some thousand rows at once are best.
    """
    if not rows:
        return
    statement = _insert_all(kind, tuple(columns), unless_there, connection.vendor)
    fields = [kind._meta.get_field(name) for name in columns]
    given = [_as_stored(field, column) for field, column in zip(fields, zip(*rows, strict=True), strict=True)]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(statement, [_array(column) for column in given])
        else:
            cursor.executemany(statement, list(zip(*given, strict=True)))


def select_columns(kind: Kind, columns: Sequence[str], where: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Columns of the rows of `kind` whose columns equal `where`, as the database holds them.

    For numbers and texts, which both databases hold alike; dates and the like are the ORM's.
    """
    statement = _select(kind, tuple(columns), _shape(where), connection.vendor)
    with connection.cursor() as cursor:
        cursor.execute(statement, _stored(kind, _given(where)))
        return list(cursor.fetchall())


def look_and_hold(kind: Kind, columns: Sequence[str], where: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """As `select_columns`; whoever locks one of the rows by `select_for_update` waits until this transaction
    ends.

    Others who look and hold, or change columns that are no keys, don't wait. SQLite lets one write at a time.
    Several rows are held in the order of their keys.
    """
    statement = _select(kind, tuple(columns), _shape(where), connection.vendor)
    in_order = f" ORDER BY {_column(kind, kind._meta.pk.name)}"
    hold = " FOR KEY SHARE" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(statement + in_order + hold, _stored(kind, _given(where)))
        return list(cursor.fetchall())


def look_among(
    kind: Kind,
    columns: Sequence[str],
    name: str,
    values: Sequence[int] | Sequence[str],
    where: Mapping[str, Any] | None = None,
) -> list[tuple[Any, ...]]:
    """As `select_columns`, of the rows whose column `name` is one of `values`, however many: they are one
    parameter. Without `where` that is the only condition."""
    conditions = where or {}
    statement = _select_among(kind, tuple(columns), name, _shape(conditions), connection.vendor)
    given = _array(values) if connection.vendor == "postgresql" else json.dumps(list(values))
    with connection.cursor() as cursor:
        cursor.execute(statement, [*_stored(kind, _given(conditions)), given])
        return list(cursor.fetchall())


def _as_stored(field: Any, column: Sequence[Any]) -> Sequence[Any]:
    """A column's values; only moments are held by the databases in different ways."""
    if isinstance(field, models.DateTimeField):
        stored = {value: field.get_db_prep_save(value, connection) for value in set(column)}
        return [stored[value] for value in column]
    return column


def _array(values: Sequence[Any]) -> str:
    """An array as PostgreSQL writes it: the driver needs longer for that than the database for the rows."""
    kinds = set(map(type, values))
    if kinds <= {int, float}:
        return f"{{{','.join(map(str, values))}}}"
    if len(kinds) == 1 and values[0] == values[-1] and len(set(values)) == 1:
        return f"{{{','.join([_element(values[0])] * len(values))}}}"
    return f"{{{','.join(map(_element, values))}}}"


def _element(value: Any) -> str:
    if isinstance(value, bytes | memoryview):
        return f'"\\\\x{bytes(value).hex()}"'
    if isinstance(value, str | datetime):
        escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return "NULL" if value is None else str(value)


def _execute(statement: str, values: Sequence[Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)


def _stored_fields(kind: Kind) -> list[models.Field[Any, Any]]:
    """The columns whose values are ours to give."""
    return [field for field in kind._meta.concrete_fields if not isinstance(field, models.AutoField)]


def _given(where: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in where.items() if value is not None}


def _shape(where: Mapping[str, Any]) -> tuple[tuple[str, bool], ...]:
    """Which columns are asked for, and whether each is to be empty."""
    return tuple((name, value is None) for name, value in where.items())


def _stored(kind: Kind, columns: Mapping[str, Any]) -> list[Any]:
    """Values as the database takes them; of a related row that is its key."""
    fields = kind._meta
    plain = {name: value.pk if isinstance(value, models.Model) else value for name, value in columns.items()}
    return [fields.get_field(name).get_db_prep_save(value, connection) for name, value in plain.items()]  # type: ignore[union-attr]  # all are columns


@lru_cache(maxsize=1000)
def _update(
    kind: Kind,
    columns: tuple[str, ...],
    amounts: tuple[str, ...],
    where: tuple[tuple[str, bool], ...],
    provided: str,
    vendor: str,
) -> str:
    """The UPDATE; `vendor` is part of the key alone, as each database quotes names in its own way."""
    new = [f"{_column(kind, name)} = %s" for name in columns]
    grown = [f"{_column(kind, name)} = {_column(kind, name)} + %s" for name in amounts]
    conditions = f"{_conditions(kind, where)} AND {provided}" if provided else _conditions(kind, where)
    return f"UPDATE {_table(kind)} SET {', '.join([*new, *grown])} WHERE {conditions}"  # noqa: S608  # names of models


@lru_cache(maxsize=100)
def _insert(kind: Kind, unless_there: bool, vendor: str) -> str:
    names = [field.name for field in _stored_fields(kind)]
    columns, marks = ", ".join(_column(kind, name) for name in names), ", ".join(["%s"] * len(names))
    conflict = " ON CONFLICT DO NOTHING" if unless_there else ""
    key = _column(kind, kind._meta.pk.name)
    return f"INSERT INTO {_table(kind)} ({columns}) VALUES ({marks}){conflict} RETURNING {key}"  # noqa: S608


@lru_cache(maxsize=100)
def _insert_all(kind: Kind, names: tuple[str, ...], unless_there: bool, vendor: str) -> str:
    """PostgreSQL takes each column as one array; SQLite a statement that is repeated for each row."""
    columns = ", ".join(_column(kind, name) for name in names)
    conflict = " ON CONFLICT DO NOTHING" if unless_there else ""
    if vendor == "postgresql":
        arrays = ", ".join(f"%s::{kind._meta.get_field(name).db_type(connection)}[]" for name in names)
        rows = f"SELECT * FROM unnest({arrays})"  # noqa: S608  # types of columns
    else:
        rows = f"VALUES ({', '.join(['%s'] * len(names))})"
    return f"INSERT INTO {_table(kind)} ({columns}) {rows}{conflict}"


@lru_cache(maxsize=100)
def _select(kind: Kind, columns: tuple[str, ...], where: tuple[tuple[str, bool], ...], vendor: str) -> str:
    listed = ", ".join(_column(kind, name) for name in columns)
    return f"SELECT {listed} FROM {_table(kind)} WHERE {_conditions(kind, where)}"  # noqa: S608  # names of models


@lru_cache(maxsize=100)
def _select_among(
    kind: Kind, columns: tuple[str, ...], name: str, where: tuple[tuple[str, bool], ...], vendor: str
) -> str:
    listed = ", ".join(_column(kind, column) for column in columns)
    if vendor == "postgresql":
        among = f"= ANY(%s::{kind._meta.get_field(name).db_type(connection)}[])"
    else:
        among = "IN (SELECT value FROM json_each(%s))"
    conditions = f"{_conditions(kind, where)} AND " if where else ""
    return f"SELECT {listed} FROM {_table(kind)} WHERE {conditions}{_column(kind, name)} {among}"  # noqa: S608  # as above


def _conditions(kind: Kind, where: tuple[tuple[str, bool], ...]) -> str:
    return " AND ".join(f"{_column(kind, name)} {'IS NULL' if empty else '= %s'}" for name, empty in where)


def _table(kind: Kind) -> str:
    return connection.ops.quote_name(kind._meta.db_table)


def _column(kind: Kind, name: str) -> str:
    column = getattr(kind._meta.get_field(name), "column", None)
    assert column is not None, f"{name} is no column of {kind.__name__}"
    return connection.ops.quote_name(column)
