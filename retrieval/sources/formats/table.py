"""Plain JSON Lines, JSON, CSV and TSV files, with the columns named by who imports them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from retrieval.sources import GRADES, GivenLabel, Item, Problem, Query, Scale, Snippet, scale_of_grades
from retrieval.sources.readers.parquet import read_any_records
from retrieval.sources.readers.read_progress import expect_file_read
from retrieval.sources.readers.records import (
    ROW_NUMBER,
    Object,
    Refused,
    read_id,
    text_of_record,
    whole_number,
)
from retrieval.sources.readers.seen_ids import Seen

ROLES: Final = ("query", "snippet", "label", "query_id", "snippet_id", "origin", "licence")
USUAL: Final[Mapping[str, Sequence[str]]] = {
    "query": ("query", "querytext", "question", "doc", "docstring", "title", "nl", "intent", "text"),
    "snippet": ("snippet", "code", "answer", "function", "funccodestring", "wholefuncstring", "source"),
    "label": ("label", "relevance", "judged", "judgement", "judgment", "score", "match", "rating"),
    "query_id": ("queryid", "queryidx", "qid", "idx", "id"),
    "snippet_id": ("snippetid", "functionid", "codeid", "codeidx", "corpusid", "docid", "retrievalidx"),
    "origin": ("origin", "url", "link", "where", "githuburl", "funccodeurl", "repo", "repository", "path"),
    "licence": ("licence", "license", "spdx"),
}
"""What columns are often called, without case, blanks and hyphens; the likelier names first."""
PEEKED: Final = 20
MOST_COLUMNS: Final = 200


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
    may_lack_label: bool = False
    """Whether a record without the column of labels is an unjudged pair, as one with an empty label is."""

    def __post_init__(self) -> None:
        if not (self.query or self.snippet):
            raise ValueError("name the column of the queries, of the functions, or both")
        if self.label and not (self.query and self.snippet):
            raise ValueError("a label belongs to a query and a function: name the columns of both")


@dataclass(frozen=True, slots=True)
class Peek:
    """The names of a file's columns, and its first records."""

    columns: tuple[str, ...]
    rows: tuple[Object, ...]


def peek_table_file(path: Path) -> Peek | Problem:
    """What the first records of a file have; of a file without a readable one, why."""
    rows, problem = list[Object](), Problem(str(path), 0, "has no records")
    for row in islice(read_any_records(path), PEEKED):
        if isinstance(row, Problem):
            problem = row
        else:
            rows.append(row[1])
    names = tuple(dict.fromkeys(name for row in rows for name in row if name))[:MOST_COLUMNS]
    return Peek(names, tuple(rows)) if names else problem


def guess_column_roles(seen: Peek) -> dict[str, str]:
    """For each role the column that is probably meant, each once; empty where none is. And the scale."""
    plain = {re.sub(r"[^a-z]", "", name.lower()): name for name in reversed(seen.columns)}
    found = dict[str, str]()
    for role in ROLES:
        taken = set(found.values())
        names = (plain.get(usual, "") for usual in USUAL[role])
        found[role] = next((name for name in names if name and name not in taken), "")
    if not (found["query"] and found["snippet"]):
        found["label"] = ""
    grades = [grade for row in seen.rows if (grade := grade_of(row.get(found["label"]))) is not None]
    return {**found, "scale": scale_of_grades(grades)}


def grade_of(written: object) -> int | None:
    """The whole number that is written as a label; None for anything else."""
    try:
        return whole_number(written, GRADES["whole"], "label")
    except Refused:
        return None


def read_table_rows(path: Path, columns: Columns) -> Iterator[Item]:
    """Yield each row's query, snippet and label, as far as there are columns of them.

    An empty label is an unjudged pair: no label, and no problem.
    """
    expect_file_read(path)
    seen = Seen(), Seen()
    for row in read_any_records(path):
        if isinstance(row, Problem):
            yield row.with_labels if columns.label else row
            continue
        try:
            items = _items_of_row(path, *row, columns)
            _refuse_again(items, *seen)
            yield from items
        except Refused as refused:
            yield Problem(str(path), row[0], str(refused), costs_labels=_is_judged(row[1], columns.label))


def _items_of_row(path: Path, number: int, record: Object, columns: Columns) -> list[Item]:
    items: list[Item] = []
    origin, licence = _optional(record, columns.origin) or path.name, _optional(record, columns.licence)
    asked = found = ""
    text = text_of_record(record, [columns.query]) if columns.query else ""
    code = text_of_record(record, [columns.snippet]) if columns.snippet else ""
    if columns.query:
        asked, key = _id(number, record, columns.query_id)
        has_id = bool(columns.query_id)
        items.append(Query(text, asked, origin, licence, key, has_id, has_id))
    if columns.snippet:
        found, key = _id(number, record, columns.snippet_id)
        has_id = bool(columns.snippet_id)
        items.append(Snippet(code, found, origin, licence, key, has_id, has_id))
    lacks = columns.may_lack_label and columns.label not in record
    if columns.label and not lacks and str(_given(record, columns.label)).strip():
        value = whole_number(record[columns.label], GRADES[columns.scale], f'"{columns.label}"')
        ids = asked if columns.query_id else "", found if columns.snippet_id else ""
        read = " and ".join(filter(None, (columns.query_id, columns.snippet_id)))
        items.append(GivenLabel(text, code, value, columns.scale, *ids, read))
    return items


def _refuse_again(items: Sequence[Item], queries: Seen, snippets: Seen) -> None:
    """Raises `Refused` for a row with an id that stood for another text before."""
    for item in items:
        if isinstance(item, Query | Snippet) and item.has_id:
            seen = queries if isinstance(item, Query) else snippets
            if why := seen.refusal(item.source_id, item.text):
                raise Refused(why)


def _is_judged(record: Object, column: str) -> bool:
    return record.get(column) is not None and bool(str(record[column]).strip())


def _id(number: int, record: Object, column: str) -> tuple[str, str]:
    """A record's id and its column; without a column of ids its number, from 0. Raises `Refused`."""
    return read_id(record, [column]) if column else (str(number - 1), ROW_NUMBER)


def _optional(record: Object, column: str) -> str:
    return text_of_record(record, [column], needed=False) if column else ""


def _given(record: Object, column: str) -> object:
    if column not in record:
        raise Refused(f'has no "{column}"')
    return "" if record[column] is None else record[column]
