"""How statements reach PostgreSQL: pages ask the same over and over, and the server keeps its plans."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, Self

from django.db.backends.postgresql.base import ServerBindingCursor
from psycopg import ClientCursor

UNSURE: Final = re.compile(r" LIKE | GROUP BY |COUNT\(|SUM\(|FROM \(SELECT| ORDER BY .* LIMIT ", re.DOTALL)
MOST_VALUES: Final = 100
"""Statements with more values hardly ever come twice, and the protocol takes 65,535 at most."""


class PlannedCursor(ServerBindingCursor):
    """Binds values on the server, which can keep a statement's plan then, unless the plan hangs on them."""

    def execute(self, query: Any, params: Sequence[Any] | None = None, **options: Any) -> Self:
        if params is not None and (len(params) > MOST_VALUES or hangs_on_values(str(query))):
            whole = ClientCursor(self.connection)  # type: ignore[attr-defined]  # the stubs lack its bases
            query, params = whole.mogrify(query, params), None
            options["prepare"] = False
        super().execute(query, params, **options)  # type: ignore[misc]  # as above
        return self


@lru_cache(maxsize=1024)
def hangs_on_values(query: str) -> bool:
    """Whether the right plan is another one for frequent values than for rare ones.

    To take the first rows, an order's index is walked for the one and the rows are sorted for the other; a
    part of a text is looked up or the table is read; so is what is counted. Other statements find few rows by
    an index.
    """
    return UNSURE.search(query) is not None
