"""Plain JSON Lines, JSON, CSV and TSV files, with the columns named by who imports them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from retrieval.sources import GivenLabel, Item, Problem, Query, Scale, Snippet
from retrieval.sources.records import Object, Refused, name_of, objects, text_of, whole_number

ALLOWED: dict[Scale, tuple[int, ...]] = {"binary": (0, 1), "graded": (0, 1, 2, 3)}


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column is what; an empty name: there is none. Raises ValueError for a mapping of no use."""

    query: str = ""
    snippet: str = ""
    label: str = ""
    query_id: str = ""
    snippet_id: str = ""
    origin: str = ""
    licence: str = ""
    scale: Scale = "binary"

    def __post_init__(self) -> None:
        if not (self.query or self.snippet):
            raise ValueError("name the column of the queries, of the snippets, or both")
        if self.label and not (self.query and self.snippet):
            raise ValueError("a label belongs to a query and a snippet: name the columns of both")


def read(path: Path, columns: Columns) -> Iterator[Item]:
    """Yield each row's query, snippet and label, as far as there are columns of them.

    An empty label is an unjudged pair: no label, and no problem.
    """
    for row in objects(path):
        if isinstance(row, Problem):
            yield row
            continue
        try:
            yield from _items(path, *row, columns)
        except Refused as refused:
            yield Problem(str(path), row[0], str(refused))


def _items(path: Path, number: int, record: Object, columns: Columns) -> list[Item]:
    items: list[Item] = []
    origin, licence = _optional(record, columns.origin) or path.name, _optional(record, columns.licence)
    if columns.query:
        text = text_of(record, [columns.query])
        items.append(Query(text, name_of(record, [columns.query_id], number - 1), origin, licence))
    if columns.snippet:
        code = text_of(record, [columns.snippet])
        items.append(Snippet(code, name_of(record, [columns.snippet_id], number - 1), origin, licence))
    if columns.label and str(_given(record, columns.label)).strip():
        value = whole_number(record[columns.label], ALLOWED[columns.scale], f'"{columns.label}"')
        items.append(GivenLabel(text, code, value, columns.scale))
    return items


def _optional(record: Object, column: str) -> str:
    return text_of(record, [column], needed=False) if column else ""


def _given(record: Object, column: str) -> object:
    if column not in record:
        raise Refused(f'has no "{column}"')
    return "" if record[column] is None else record[column]
