"""Judgements and runs as files: TREC's, and CodeSearchNet's CSV, told apart by their first line.

- TREC qrels: `query iteration document relevance`; relevances may be fractions.
- TREC run: `query Q0 document rank score tag`. Columns are separated by blanks, or by tabs, and then a query
  may have blanks in it.
- BEIR's qrels: a table with the columns query-id, corpus-id, score.
- CodeSearchNet's annotations: CSV with at least the columns Language, Query, GitHubUrl, Relevance.
- CodeSearchNet's predictions: CSV with at least the columns language, query, url; the order of rows is the
  order of the results.
- JSON, in a file that is called so: `{"query": {"document": relevance or score}}`.

Rows come in the order of the file, in constant memory; the first bad line raises `Malformed`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from retrieval.sources import LARGEST_GRADE, Problem
from retrieval.sources.readers.json_stream import stream_json_elements
from retrieval.sources.readers.lines import (
    Malformed,
    clip_text,
    csv_rows,
    find_separator,
    first_line_of,
    named_twice,
    parse_finite_number,
    read_numbered_lines,
    split_header,
)
from retrieval.sources.readers.records import kind_of

QRELS_COLUMNS = ("query", "iteration", "document", "relevance")
RUN_COLUMNS = ("query", "Q0", "document", "rank", "score", "tag")
BEIR_COLUMNS = ("query-id", "corpus-id", "score")
ANNOTATION_COLUMNS = ("language", "query", "githuburl", "relevance")
PREDICTION_COLUMNS = ("language", "query", "url")

Numbered: TypeAlias = Iterator[tuple[int, str]]

WHOLE_NUMBER = re.compile(r"([+-]?[0-9]{1,18})(\.0+)?")


class Judgement(NamedTuple):
    """One rating of a document for a query. `language` is None in TREC files; `line` is where it stands."""

    language: str | None
    query: str
    document: str
    relevance: float
    line: int


class Result(NamedTuple):
    """One document of a ranked list; higher scores first, then lower ranks. `language` as in `Judgement`."""

    language: str | None
    query: str
    document: str
    score: float
    rank: int
    line: int


Row = TypeVar("Row", Judgement, Result)


@dataclass(frozen=True, slots=True)
class Rows(Generic[Row]):
    """The rows of a file, to be read once, and whether it says a language for each."""

    file: Path
    has_languages: bool
    rows: Iterator[Row]


def read_qrels(path: Path) -> Rows[Judgement]:
    """Judgements of TREC or BEIR qrels, CodeSearchNet's annotations or JSON.

    Raises `Malformed`, here or later.
    """
    if kind_of(path) == ".json":
        return Rows(path, False, _json_judgements(path))
    numbered, header = _opened(path)
    if (beir := _places(path, header, BEIR_COLUMNS)) is not None:
        return Rows(path, False, _beir_judgements(path, numbered, beir))
    places = _places(path, header, ANNOTATION_COLUMNS)
    if places is None:
        _refuse_other_csv(path, header, QRELS_COLUMNS, ANNOTATION_COLUMNS)
        return Rows(path, False, _trec_judgements(path, numbered))
    return Rows(path, True, _annotations(path, numbered, places))


def describe_ids(path: Path) -> str:
    """Where ids stand in a file of judgements that names no columns."""
    return "the keys of the JSON" if kind_of(path) == ".json" else "the first and the third column"


def read_run_tag(path: Path) -> str:
    """The tag of the first line of a TREC run, by which its system is called; empty for other files.

    A pipe can be read only once, so its tag is not looked for.
    """
    if kind_of(path) == ".json" or not path.is_file():
        return ""
    _, header = _opened(path)
    if _places(path, header, PREDICTION_COLUMNS) is not None:
        return ""
    columns = _split(header, len(RUN_COLUMNS))
    return columns[-1] if len(columns) == len(RUN_COLUMNS) else ""


def read_run(path: Path) -> Rows[Result]:
    """Results of a TREC run, CodeSearchNet's predictions or JSON. Raises `Malformed`, here or later."""
    if kind_of(path) == ".json":
        return Rows(path, False, _json_results(path))
    numbered, header = _opened(path)
    places = _places(path, header, PREDICTION_COLUMNS)
    if places is None:
        _refuse_other_csv(path, header, RUN_COLUMNS, PREDICTION_COLUMNS)
        return Rows(path, False, _trec_results(path, numbered))
    return Rows(path, True, _predictions(path, numbered, places))


def _trec_judgements(path: Path, numbered: Numbered) -> Iterator[Judgement]:
    for line, (query, _, document, relevance) in _columns(path, numbered, QRELS_COLUMNS):
        yield Judgement(None, query, document, _relevance(relevance, path, line), line)


def _beir_judgements(path: Path, numbered: Numbered, places: Sequence[int]) -> Iterator[Judgement]:
    for line, (query, document, relevance) in _fields(path, numbered, places, BEIR_COLUMNS):
        yield Judgement(None, query, document, _relevance(relevance, path, line), line)


def _annotations(path: Path, numbered: Numbered, places: Sequence[int]) -> Iterator[Judgement]:
    for line, fields in _fields(path, numbered, places, ANNOTATION_COLUMNS):
        language, query, document, relevance = fields
        yield Judgement(language, query, document, _relevance(relevance, path, line), line)


def _trec_results(path: Path, numbered: Numbered) -> Iterator[Result]:
    for line, (query, _, document, rank, score, _) in _columns(path, numbered, RUN_COLUMNS):
        yield Result(
            None,
            query,
            document,
            parse_finite_number(score, path, line, "score"),
            _rank(rank, path, line),
            line,
        )


def _predictions(path: Path, numbered: Numbered, places: Sequence[int]) -> Iterator[Result]:
    for line, (language, query, document) in _fields(path, numbered, places, PREDICTION_COLUMNS):
        yield Result(language, query, document, 0.0, line, line)


def _json_judgements(path: Path) -> Iterator[Judgement]:
    for number, query, documents in _json_queries(path):
        for document, relevance in documents.items():
            yield Judgement(None, query, document, _relevance(str(relevance), path, number), number)


def _json_results(path: Path) -> Iterator[Result]:
    for number, query, documents in _json_queries(path):
        for rank, (document, score) in enumerate(documents.items(), 1):
            found = parse_finite_number(str(score), path, number, "score")
            yield Result(None, query, document, found, rank, number)


def _json_queries(path: Path) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield (number from 1, query, number by document) of a JSON object, as pytrec_eval and ranx write it."""
    seen = set[str]()
    for element in stream_json_elements(path):
        if isinstance(element, Problem):
            raise Malformed(path, element.record, element.message)
        if element.key is None or not isinstance(element.value, dict):
            shape = '{"query": {"document": 1.5}}'
            raise Malformed(path, element.number, f"expected a number by query and document, as in {shape}")
        if element.key in seen:
            raise Malformed(path, element.number, f"the query {clip_text(element.key)} was there before")
        seen.add(element.key)
        yield element.number, element.key, element.value


def _opened(path: Path) -> tuple[Numbered, str]:
    """All lines that are not blank from the first on, and that first one; a pipe can be read only once."""
    numbered = read_numbered_lines(path)
    first = first_line_of(path, numbered)
    if not first[0]:
        raise Malformed(path, 0, "is empty")
    return chain([first], numbered), first[1]


def _places(path: Path, header: str, wanted: Sequence[str]) -> list[int] | None:
    """Where the wanted columns stand in a CSV header, None if it is not one with all of them.

    Raises `Malformed` for one that has one of them twice.
    """
    names = [name.strip().lower() for name in split_header(header, find_separator(header))]
    if not set(wanted) <= set(names):
        return None
    if why := named_twice(name for name in names if name in wanted):
        raise Malformed(path, 1, why)
    return [names.index(name) for name in wanted]


def _refuse_other_csv(path: Path, header: str, columns: Sequence[str], wanted: Sequence[str]) -> None:
    """Raises `Malformed` for a table with other columns, which is no TREC file either."""
    is_table = kind_of(path) == ".csv" and "," in header
    if is_table and len(_split(header, len(columns))) != len(columns):
        expected = (
            f"expected the columns {', '.join(wanted)} in the header, found {clip_text(header.strip())}"
        )
        raise Malformed(path, 0, f"{expected}; or lines of TREC: {' '.join(columns)}")


def _columns(path: Path, numbered: Numbered, wanted: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    for line, text in numbered:
        columns = _split(text, len(wanted))
        if not columns:
            continue
        if len(columns) != len(wanted):
            expected = f"expected {len(wanted)} columns ({' '.join(wanted)})"
            raise Malformed(path, line, f"{expected}, found {len(columns)}: {clip_text(text.strip())}")
        yield line, columns


def _split(text: str, wanted: int) -> list[str]:
    by_tabs = [column.strip() for column in text.split("\t")]
    return by_tabs if len(by_tabs) == wanted and all(by_tabs) else text.split()


def _fields(
    path: Path, numbered: Numbered, places: Sequence[int], wanted: Sequence[str]
) -> Iterator[tuple[int, list[str]]]:
    rows = csv_rows(path, numbered)
    next(rows)
    for line, row in rows:
        fields = [row[place].strip() if place < len(row) else "" for place in places]
        missing = [name for name, field in zip(wanted, fields, strict=True) if not field]
        if missing:
            raise Malformed(path, line, f"has no {', no '.join(missing)}: {clip_text(','.join(row))}")
        yield line, fields


def _relevance(written: str, path: Path, line: int) -> float:
    return parse_finite_number(written, path, line, "relevance", LARGEST_GRADE)


def _rank(written: str, path: Path, line: int) -> int:
    found = WHOLE_NUMBER.fullmatch(written)
    if not found:
        raise Malformed(path, line, f"expected a whole number as rank, found {clip_text(written)}")
    return int(found[1])
