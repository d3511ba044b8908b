"""A page's tables of figures as files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from django.http import Http404, HttpResponse, QueryDict

from annotation.studies.report.downloads import FORMATS, formats_of
from annotation.studies.report.table import Table
from annotation.web.shared.requests import attach

TableFiles = Sequence[tuple[str, Sequence[tuple[str, str]]]]
"""By title of a table: each format with the query of the address that gives it."""


def attach_table(tables: Iterable[Table], params: Mapping[str, str] | QueryDict, name: str) -> HttpResponse:
    """The table `?table=` as `?format=` csv, json, tex or svg: the file NAME-TABLE.FORMAT. Raises Http404."""
    table = {table.key: table for table in tables}.get(params.get("table") or "")
    wanted = params.get("format") or ""
    if table is None or wanted not in formats_of(table):
        raise Http404("There is no such table or format.")
    write, content_type = FORMATS[wanted]
    return attach(HttpResponse(write(table), content_type=content_type), f"{name}-{table.key}.{wanted}")


def list_table_formats(tables: Iterable[Table], params: QueryDict) -> dict[str, list[tuple[str, str]]]:
    """By table's key: each format with the address that gives it, for the choices of the page."""
    asked = params.copy()
    found = dict[str, list[tuple[str, str]]]()
    for table in tables:
        found[table.key] = []
        for name in formats_of(table):
            asked["table"], asked["format"] = table.key, name
            found[table.key].append((name, asked.urlencode()))
    return found


def list_table_files(tables: Iterable[Table], params: QueryDict) -> TableFiles:
    """The same by title, for the card at the end of a page (`_table_files.html`)."""
    named = tuple(tables)
    formats = list_table_formats(named, params)
    return [(table.title, formats[table.key]) for table in named]
