"""Somebody else's ranked lists, as a file: whose queries and snippets are they, and which are unknown?

`run_names` has the names that are known. A result that the benchmark lacks keeps its rank and is unjudged:
taking it out would be kind to a system that searched something else. Where the pool is the candidates, a
snippet of the benchmark that is none of the query's is taken out, as systems that search here never find it.

A benchmark that goes by ids takes each id for itself. Else several ids of one text are one query or snippet:
of two in a list the first counts and later ones are taken out, and of two lists of a query the first.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from retrieval.evaluation.content import Content
from retrieval.evaluation.files import Keys, NotComparable, Results, of_language
from retrieval.evaluation.runs.names import Names, query_names, snippet_names
from retrieval.models.benchmarks import NOWHERE, Places
from retrieval.sources.formats.trec import read_run
from retrieval.sources.readers.lines import Malformed, clip_text
from retrieval.texts.plurals import count_noun

Searched = Mapping[int, Sequence[int]]
"""By query the places of its candidates."""


@dataclass(slots=True)
class Unknown:
    """Names in a run that do not count as results: how many, in how many rows, the first with its line."""

    names: set[str] = field(default_factory=set)
    rows: int = 0
    first: tuple[str, int] | None = None

    def add(self, name: str, line: int) -> None:
        self.names.add(name)
        self.rows += 1
        self.first = self.first or (name, line)

    def told(self, noun: str, several: str = "") -> str:
        """For example "3 functions (in 12 rows; the first is 'x' in line 4)"."""
        name, line = self.first or ("", 0)
        where = f"in {count_noun(self.rows, 'row')}; the first is {clip_text(name)} in line {line:,}"
        return f"{count_noun(len(self.names), noun, several)} ({where})"


@dataclass(frozen=True, slots=True)
class RunFile:
    """The lists of a run file by query: places of snippets, best first, `NOWHERE` for unknown ones.

    `outside` were taken out, as they are none of the candidates, and `copies`, as their text stands before
    them by another id. `second_lists` are ids of queries that are listed by another one, too. `by_export`:
    queries or snippets go by the ids that an export has.
    """

    lists: Mapping[int, Places]
    unknown_queries: Unknown
    unknown_snippets: Unknown
    outside: Unknown
    copies: Unknown
    second_lists: Unknown
    by_export: bool


def read_run_file(
    path: Path, content: Content, language: str | None = None, pool: Searched | None = None
) -> RunFile:
    """Read a TREC run or CodeSearchNet's predictions for a benchmark; `pool` as `pool_of` has it.

    Raises `Malformed` for a bad line or a snippet that a query has twice, and `NotComparable` where no query
    or no snippet is the benchmark's, or none of the pool.
    """
    rows = read_run(path)
    if language and not rows.has_languages:
        raise NotComparable(f"{path} has no languages; leave --language out.")
    names, unknown = query_names(content.benchmark), Unknown()
    keys = Keys(by_language=False)
    given: dict[str, Results] = {}
    for row in of_language(rows, language):
        _, written = keys.of(row)
        name = names.find_query(written)
        if name is not None:
            given.setdefault(name, Results()).add(row, row.document)
        else:
            unknown.add(row.query, row.line)
    meant = names.meant(given)
    for name in [name for name in given if name not in meant]:
        for line in given.pop(name).lines:
            unknown.add(name, line)
    if not given:
        raise NotComparable(
            f"No query of {path} is one of {content.benchmark}: it has "
            f"{unknown.told('unknown one')}. A query is named by its source id, such as "
            f"{clip_text(names.example)}, by its text, or as an export names it, such as 'q0' or '0'."
        )
    second = Unknown()
    merged = _merged(given, meant, names.aliases, second)
    read = _placed(path, merged, content, names.by_export(given), pool)
    return replace(read, unknown_queries=unknown, second_lists=second)


def _merged(
    given: Mapping[str, Results], meant: Mapping[str, int], aliases: Container[str], second: Unknown
) -> dict[int, Results]:
    """By query what the file lists for it, under whichever of its names, but by one of its ids alone."""
    found = dict[int, Results]()
    for name in sorted(given, key=lambda name: name in aliases):  # its own id goes first
        if name in aliases and meant[name] in found:
            second.add(name, given[name].lines[0])
        else:
            found.setdefault(meant[name], Results()).extend(given[name])
    return found


def _placed(
    path: Path,
    found: Mapping[int, Results],
    content: Content,
    by_export: bool,
    pool: Searched | None,
) -> RunFile:
    names = snippet_names(content.benchmark)
    used = {document for results in found.values() for document in results.documents}
    places, unknown, outside, copies = names.meant(used), Unknown(), Unknown(), Unknown()
    lists: dict[int, Places] = {}
    for query, results in found.items():
        searched = None if pool is None else {NOWHERE, *pool.get(query, ())}
        for line, document in zip(results.lines, results.documents, strict=True):
            place = places.get(document, NOWHERE)
            if place == NOWHERE:
                unknown.add(document, line)
            elif searched is not None and place not in searched:
                outside.add(document, line)
        _refuse_repeated(path, results, places, names.aliases)
        listed = _without_copies(results, places, copies)
        kept = listed if searched is None else [place for place in listed if place in searched]
        lists[query] = np.array(kept, dtype=np.uint32)
    _refuse_nothing(path, content, sum(len(one.documents) for one in found.values()), unknown, outside, names)
    by_export = by_export or names.by_export(used)
    return RunFile(lists, Unknown(), unknown, outside, copies, Unknown(), by_export)


def _without_copies(results: Results, places: Mapping[str, int], copies: Unknown) -> list[int]:
    """The places of a list in its order, each text at its first rank."""
    found, lines = dict[int | str, int](), dict(zip(results.documents, results.lines, strict=True))
    for name in results.ordered():
        place = places.get(name, NOWHERE)
        if place != NOWHERE and place in found:
            copies.add(name, lines[name])
        else:
            found[name if place == NOWHERE else place] = place
    return list(found.values())


def _refuse_nothing(
    path: Path, content: Content, rows: int, unknown: Unknown, outside: Unknown, names: Names
) -> None:
    """Raises `NotComparable` where no row of the file counts."""
    if unknown.rows == rows:
        raise NotComparable(
            f"No function of {path} is one of {content.benchmark}: it has {unknown.told('unknown one')}. "
            f"A function is named by its source id, such as {clip_text(names.example)}, by the link that "
            "is its origin, by the sha256 of its text, or as an export names it, such as 'd0' or '0'."
        )
    if unknown.rows + outside.rows == rows:
        raise NotComparable(
            f"No function of {path} is a candidate of its query: it has {outside.told('other')}. If the "
            "system searched the whole collection, say so."
        )


def _refuse_repeated(
    path: Path, results: Results, places: Mapping[str, int], aliases: Container[str]
) -> None:
    """A snippet counts once for a query, by whichever of its names; its further ids are copies of it."""
    seen: set[int | str] = set()
    for line, document in zip(results.lines, results.documents, strict=True):
        snippet = document if document in aliases else places.get(document, document)
        if snippet in seen:
            raise Malformed(path, line, f"{clip_text(document)} is listed a second time for its query")
        seen.add(snippet)
