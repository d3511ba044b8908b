"""Queries of the ORM that are composed once: to compose one takes Django several times as long as to send it.

For what nearly every request asks by a key or two. Whatever is not hot stays with the ORM's own way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from types import SimpleNamespace
from typing import Any, Final, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections

Row = TypeVar("Row")
Value = int | str
MARK: Final = 2_147_480_000
"""Marks of values begin with it: columns of 32 bits take it, and no condition has such a number itself."""


class PreparedQuery(Generic[Row]):
    """A query whose SQL is kept; `load` sends it with other values.

    `compose` builds it out of as many values as there are `kinds`, each `int` or `str`; it is called once for
    each database. So nothing else in it may change from call to call, and it prefetches nothing.
    """

    def __init__(self, compose: Callable[..., Any], *kinds: type[Value]) -> None:
        self._compose, self._kinds = compose, kinds
        self._composed: dict[str, _Composed] = {}

    def load(self, *values: Value) -> list[Row]:
        """The rows. Raises ValueError at the first call where `compose` leaves a value out or prefetches."""
        composed = self._composed.get(connection.vendor)
        if composed is None:
            composed = self._composed[connection.vendor] = _Composed(self._compose, self._kinds)
        return composed.load(values)

    def first(self, *values: Value) -> Row | None:
        """The first row, None where there is none; all are read, so limit a query of many."""
        rows = self.load(*values)
        return rows[0] if rows else None


class _Composed:
    """The query for one kind of database: its SQL, and how its rows become objects."""

    def __init__(self, compose: Callable[..., Any], kinds: Sequence[type[Value]]) -> None:
        marks = [kind(MARK + place) for place, kind in enumerate(kinds)]
        self._rows: Any = compose(*marks)
        self._compiler = self._rows.query.get_compiler(DEFAULT_DB_ALIAS)
        self._sql, given = self._compiler.as_sql()
        self._given = list(given)
        self._places = [(at, marks.index(mark)) for at, mark in enumerate(given) if mark in marks]
        if self._rows._prefetch_related_lookups or {which for _, which in self._places} != {
            *range(len(marks))
        }:
            raise ValueError("a prepared query uses each value, and prefetches nothing")
        columns = [column for column, *_ in self._compiler.select[: self._compiler.col_count]]
        self._converters = self._compiler.get_converters(columns)

    def load(self, values: Sequence[Value]) -> list[Any]:
        params = self._given.copy()
        for at, which in self._places:
            params[at] = values[which]
        compiler = copy(self._compiler)
        compiler.connection = connections[DEFAULT_DB_ALIAS]  # this thread's
        compiler.as_sql = lambda *_, **__: (self._sql, params)
        compiler.get_converters = lambda columns: self._converters
        rows = self._rows
        asked = SimpleNamespace(
            db=DEFAULT_DB_ALIAS,
            model=rows.model,
            query=_Bound(rows.query, compiler),
            _fields=rows._fields,
            _known_related_objects={},
        )
        return list(rows._iterable_class(asked))


class _Bound:
    """A query as Django's readers of rows ask it: its compiler is the one with the values."""

    def __init__(self, query: Any, compiler: Any) -> None:
        self._query, self._compiler = query, compiler

    def get_compiler(self, *_: Any, **__: Any) -> Any:
        return self._compiler

    def __getattr__(self, name: str) -> Any:
        return getattr(self._query, name)
