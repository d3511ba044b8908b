"""How many rows a list has: as far as is worth counting at once, and exactly for who asks, within a time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from django.db import OperationalError, connection, transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

SECONDS: Final = 5.0
CANCELLED: Final = ("statement timeout", "interrupted")
"""What the databases call it."""
INSTRUCTIONS: Final = 10_000
"""So many of its steps SQLite makes between two looks at the clock."""
ASKED: Final = "count"


@dataclass(frozen=True, slots=True)
class Number:
    """How many; `ask` is the query string that has them counted exactly, where that is not known.

    `asked`: it is what somebody asked for, also where it took too long.
    """

    word: str
    ask: str = ""
    asked: bool = False


def is_asked(params: QueryDict) -> bool:
    return params.get(ASKED) == "exact"


def number_of(said: str, rows: QuerySet[Any], params: QueryDict) -> Number:
    """`said` is what the list says by itself, such as `1,000+` of its `rows`."""
    if not said.endswith("+"):
        return Number(said)
    copy = params.copy()
    copy[ASKED] = "exact"
    if not is_asked(params):
        return Number(said, copy.urlencode())
    exact = count_rows_exactly(rows)
    return Number(said, copy.urlencode(), asked=True) if exact is None else Number(f"{exact:,}", asked=True)


def count_rows_exactly(rows: QuerySet[Model]) -> int | None:
    """How many rows there are; None where counting them took longer."""
    try:
        with at_most(SECONDS):
            return rows.order_by().count()
    except OperationalError as error:
        if any(word in str(error) for word in CANCELLED):
            return None
        raise


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """A statement in the block that takes longer is stopped, with OperationalError."""
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = {max(1, round(1000 * seconds))}")
            yield
            cursor.execute("SET LOCAL statement_timeout TO DEFAULT")
        return
    # In no transaction: it would keep everybody else from writing.
    connection.ensure_connection()
    until = time.monotonic() + seconds
    connection.connection.set_progress_handler(lambda: time.monotonic() > until, INSTRUCTIONS)
    try:
        yield
    finally:
        connection.connection.set_progress_handler(None, 0)


def is_number_wanted(request: HttpRequest) -> bool:
    """Whether the answer is put in the place of the number: htmx asks for it alone."""
    return is_asked(request.GET) and request.headers.get("HX-Target") == "number"


def number_alone(request: HttpRequest, number: Number) -> HttpResponse:
    response = render(request, "annotation/shared/_number.html", {"number": number})
    patch_vary_headers(response, ["HX-Target"])
    return response
