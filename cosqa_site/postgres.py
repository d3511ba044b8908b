"""How statements reach PostgreSQL: pages ask the same over and over, and the server keeps its plans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self

from django.db.backends.postgresql.base import ServerBindingCursor
from psycopg import ClientCursor

MOST_VALUES: Final = 100
"""Statements with more values hardly ever come twice, and the protocol takes 65,535 at most."""


class PlannedCursor(ServerBindingCursor):
    """Binds values on the server, which can keep a statement's plan then, unless there are many of them."""

    def execute(self, query: Any, params: Sequence[Any] | None = None, **options: Any) -> Self:
        if params is not None and len(params) > MOST_VALUES:
            whole = ClientCursor(self.connection)  # type: ignore[attr-defined]  # the stubs lack its bases
            query, params = whole.mogrify(query, params), None
            options["prepare"] = False
        super().execute(query, params, **options)  # type: ignore[misc]  # as above
        return self
