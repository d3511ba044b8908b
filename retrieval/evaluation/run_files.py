"""Somebody else's ranked lists, as a file: whose queries and snippets are they, and which are unknown?

Queries are named by their source id or their text, snippets by their source id, the link that is their origin
(CodeSearchNet's `url`) or the sha256 of their text. A result that the benchmark lacks keeps its rank and is
unjudged: taking it out would be kind to a system that searched something else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from retrieval.evaluation.content import Content, query_members, snippet_members
from retrieval.evaluation.files import Keys, NotComparable, Results, of_language
from retrieval.models import Benchmark
from retrieval.models.benchmarks import NOWHERE, Places
from retrieval.models.texts import canonical
from retrieval.sources.lines import Malformed, shown
from retrieval.sources.trec import read_run

ROWS_A_READ = 2000


@dataclass(slots=True)
class Unknown:
    """Names in a run that the benchmark lacks: how many, in how many rows, and the first with its line."""

    names: set[str] = field(default_factory=set)
    rows: int = 0
    first: tuple[str, int] | None = None

    def add(self, name: str, line: int) -> None:
        self.names.add(name)
        self.rows += 1
        self.first = self.first or (name, line)

    def told(self, what: str) -> str:
        """For example "3 snippets (in 12 rows; the first is 'x' in line 4)"."""
        name, line = self.first or ("", 0)
        return (
            f"{len(self.names):,} {what} (in {self.rows:,} rows; the first is {shown(name)} in line {line:,})"
        )


@dataclass(frozen=True, slots=True)
class RunFile:
    """The lists of a run file by query: places of snippets, best first, `NOWHERE` for unknown ones."""

    lists: Mapping[int, Places]
    unknown_queries: Unknown
    unknown_snippets: Unknown


def read(path: Path, content: Content, language: str | None = None) -> RunFile:
    """Read a TREC run or CodeSearchNet's predictions for a benchmark.

    Raises `Malformed` for a bad line or a snippet that a query has twice, and `NotComparable` where no query
    or no snippet is the benchmark's.
    """
    rows = read_run(path)
    if language and not rows.has_languages:
        raise NotComparable(f"{path} has no languages; leave --language out.")
    queries, unknown_queries = _query_names(content.benchmark), Unknown()
    keys = Keys(by_language=False)
    found: dict[int, Results] = {}
    for row in of_language(rows, language):
        _, name = keys.of(row)
        query = queries.get(name) or queries.get(_loosely(name))
        if query is None:
            unknown_queries.add(row.query, row.line)
        else:
            found.setdefault(query, Results()).add(row, row.document)
    if not found:
        raise NotComparable(
            f"No query of {path} is one of {content.benchmark}: it has "
            f"{unknown_queries.told('unknown ones')}. A query is named by its source id, such as "
            f"{shown(next(iter(queries), ''))}, or by its text."
        )
    lists, unknown = _placed(path, found, content)
    return RunFile(lists, unknown_queries, unknown)


def _placed(path: Path, found: Mapping[int, Results], content: Content) -> tuple[dict[int, Places], Unknown]:
    places, unknown = _snippet_names(content.benchmark), Unknown()
    lists: dict[int, Places] = {}
    for query, results in found.items():
        for line, document in zip(results.lines, results.documents, strict=True):
            if document not in places:
                unknown.add(document, line)
        lists[query] = np.array([places.get(name, NOWHERE) for name in results.ordered()], dtype=np.uint32)
        _refuse_repeated(path, results, places)
    if unknown.rows == sum(len(results.documents) for results in found.values()):
        raise NotComparable(
            f"No snippet of {path} is one of {content.benchmark}: it has {unknown.told('unknown ones')}. "
            f"A snippet is named by its source id, such as {shown(next(iter(places), ''))}, by the link that "
            "is its origin, or by the sha256 of its text."
        )
    return lists, unknown


def _refuse_repeated(path: Path, results: Results, places: Mapping[str, int]) -> None:
    """A snippet counts once for a query, by whichever of its names."""
    seen: set[int | str] = set()
    for line, document in zip(results.lines, results.documents, strict=True):
        snippet = places.get(document, document)
        if snippet in seen:
            raise Malformed(path, line, f"{shown(document)} is listed a second time for its query")
        seen.add(snippet)


def _query_names(benchmark: Benchmark) -> dict[str, int]:
    """Ids of texts by source id, and by text with upper and lower case alike. Ids go before texts."""
    rows = query_members(benchmark).select_related("text__body")
    texts, ids = dict[str, int](), list[tuple[str, int]]()
    for row in rows.iterator(ROWS_A_READ):
        texts.setdefault(_loosely(row.text.text), row.text_id)
        ids.append((row.source_id, row.text_id))
    named = _unambiguous(ids)
    return named | {text: query for text, query in texts.items() if text not in named}


def _snippet_names(benchmark: Benchmark) -> dict[str, int]:
    """Places by source id, by the link that is the origin, and by the sha256 of the text."""
    rows = snippet_members(benchmark).values_list("source_id", "origin", "text__body_id")
    ids, links, digests = list[tuple[str, int]](), list[tuple[str, int]](), dict[str, int]()
    for place, (source_id, origin, digest) in enumerate(rows.iterator(ROWS_A_READ)):
        ids.append((source_id, place))
        if "://" in origin:
            links.append((origin, place))
        digests[digest] = place
    named = _unambiguous(ids)
    return named | {name: place for name, place in _unambiguous(links).items() if name not in named} | digests


def _unambiguous(names: Iterable[tuple[str, int]]) -> dict[str, int]:
    """A source id that two members share names neither of them."""
    given = list(names)
    count = Counter(name for name, _ in given)
    return {name: number for name, number in given if name and count[name] == 1}


def _loosely(text: str) -> str:
    return canonical(text).casefold()
