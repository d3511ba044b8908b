"""Parquet files of queries, code base and pairs, by pyarrow, which is an extra of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from retrieval.exporting.content import Held, MemberEntry, Subject
from retrieval.exporting.parts import Parts, named_parts
from retrieval.exporting.provenance import list_distractors
from retrieval.exporting.stores import Tick
from retrieval.sources.readers.parquet import import_pyarrow

ROWS_A_GROUP = 5000


def write_parquet_files(subject: Subject, folder: Path, parts: Parts | None, tick: Tick) -> list[str]:
    """`queries.parquet`, `codebase.parquet`, and `pairs.parquet` or a file for each part; without texts.

    Columns have the names that the Hugging Face export gives them.

    Raises `MissingLibrary`.
    """
    arrow, parquet = import_pyarrow()
    asked, code = (
        [(f"{kind}_idx", arrow.int64()), *((name, arrow.string()) for name in (kind, *ORIGIN))]
        for kind in ("query", "code")
    )
    pair = [
        *((name, arrow.int64()) for name in ("query_idx", "code_idx")),
        ("label", arrow.int8()),
        ("relevance", arrow.float64()),
        ("source", arrow.string()),
        ("assisted", arrow.bool_()),
        ("basis", arrow.string()),
    ]
    names = [f"pairs-{name}.parquet" for name in named_parts(parts, "")] if parts else ["pairs.parquet"]
    files: list[tuple[str, Any, Iterable[tuple[Any, ...]]]] = [
        ("queries.parquet", asked, _build_member_rows(subject.queries(), subject.held_queries)),
        ("codebase.parquet", code, _build_member_rows(subject.snippets(), subject.held_snippets)),
        *((name, pair, _build_pair_rows(subject, parts, place)) for place, name in enumerate(names)),
    ]
    if subject.benchmark.distractors.exists():
        files.append(_build_distractor_file(subject, arrow))
    for name, columns, rows in files:
        schema, iterator = arrow.schema(columns), iter(rows)
        with parquet.ParquetWriter(folder / f"{name}.part", schema) as writer:
            while batch := list(islice(iterator, ROWS_A_GROUP)):
                arrays = [
                    arrow.array(column, kind)
                    for column, (_, kind) in zip(zip(*batch, strict=True), columns, strict=True)
                ]
                writer.write_batch(arrow.record_batch(arrays, schema=schema))
                tick(len(batch))
        (folder / f"{name}.part").replace(folder / name)
    return [name for name, _, _ in files]


def _build_distractor_file(subject: Subject, arrow: Any) -> tuple[str, Any, Iterable[tuple[Any, ...]]]:
    """Name, columns and rows of the file of distractors."""
    columns = [(name, arrow.int64() if name in NUMBERS else arrow.string()) for name in DISTRACTOR]
    return "distractors.parquet", columns, (tuple(row.values()) for row in list_distractors(subject))


ORIGIN = ("source_id", "origin", "licence")
NUMBERS = frozenset({"query_idx", "code_idx", "parent_code_idx", "line", "program", "run"})
DISTRACTOR = (
    "query_idx",
    "code_idx",
    "parent_code_idx",
    "kind",
    "line",
    "before",
    "after",
    "program",
    "program_text",
    "run",
)


def _build_member_rows(entries: Iterable[MemberEntry], held: Held) -> Iterator[tuple[Any, ...]]:
    for entry in entries:
        if not held.mask[entry.position]:
            yield entry.number, entry.text, entry.source_id, entry.origin, entry.licence


def _build_pair_rows(subject: Subject, parts: Parts | None, place: int) -> Iterator[tuple[Any, ...]]:
    pairs = subject.open_pairs
    for query, snippet, relevance, giver in pairs.rows():
        if parts is None or parts.part_of[query] == place:
            known = pairs.known[giver]
            numbers = int(subject.query_numbers[query]), int(subject.snippet_numbers[snippet])
            given = known.source.value, known.assisted, known.basis
            yield *numbers, int(relevance > 0), relevance, *given
