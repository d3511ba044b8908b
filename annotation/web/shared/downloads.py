"""A page's tables of figures as files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.http import Http404, HttpResponse, QueryDict

from annotation.studies.report.downloads import FORMATS, formats_of
from annotation.studies.report.table import Table
from annotation.web.shared.requests import attach


def attach_table(tables: Iterable[Table], params: Mapping[str, str] | QueryDict, name: str) -> HttpResponse:
    """The table `?table=` as `?format=` csv, json, tex or svg: the file NAME-TABLE.FORMAT. Raises Http404."""
    table = {table.key: table for table in tables}.get(params.get("table") or "")
    wanted = params.get("format") or ""
    if table is None or wanted not in formats_of(table):
        raise Http404("There is no such table or format.")
    write, content_type = FORMATS[wanted]
    return attach(HttpResponse(write(table), content_type=content_type), f"{name}-{table.key}.{wanted}")
