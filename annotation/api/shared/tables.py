"""Tables of figures as the API gives them: all as JSON, or one as a file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from django.http import HttpResponse

from annotation.schemas.benchmarks.benchmarks import TableQuery
from annotation.studies.report.formats import format_table_json
from annotation.studies.report.table import Table
from annotation.web.shared.downloads import attach_table


def tables_out(tables: Iterable[Table]) -> dict[str, Any]:
    """Each table by its key, unrounded."""
    return {table.key: json.loads(format_table_json(table)) for table in tables}


def answer_tables(tables: Iterable[Table], wanted: TableQuery, name: str) -> dict[str, Any] | HttpResponse:
    """All tables, or the file of one. Raises Http404."""
    if not wanted.table:
        return tables_out(tables)
    return attach_table(tables, {"table": wanted.table, "format": wanted.format}, name)
