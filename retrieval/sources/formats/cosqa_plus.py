"""A release of CoSQA+: a folder with queries, code base and labelled pairs, each one JSON array.

Files have been called `query.json`, `codebase.json`, `pairs.json` with `gpt4o_augment_` (first version) or
`test_agent_` (agents' labels) before it, and `…pairs_true.json` or `pairs_for_search.json` where only matches
are in it; each may be packed. Keys use hyphens: `query-idx`, `code-idx`, `pair-idx`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from retrieval.sources import Item, Problem, Query, Record, Snippet
from retrieval.sources.formats.cosqa import (
    TextsById,
    read_code_of_pairs,
    read_labels,
    read_pairs,
    read_queries,
    read_snippets,
)
from retrieval.sources.readers.compression import PACKED
from retrieval.sources.readers.read_progress import expect_file_read
from retrieval.sources.readers.zip_folder import LOST_OF_RELEASE

PREFIXES = ("", "test_agent_", "gpt4o_augment_")
ENDINGS = (".json", "", *(f".json{end}" for end in PACKED))
VERSIONS = [(prefix, end) for prefix in PREFIXES for end in ENDINGS]
"""What stands before and after the name of a file."""
QUERIES = ("query",)
CODE_BASE = ("codebase",)
PAIRS = ("pairs", "pairs_for_search", "pairs_true")
LICENCE = "CC-BY-4.0"
LOST = re.compile(LOST_OF_RELEASE)


@dataclass(frozen=True, slots=True)
class Release:
    """The files of a release; one that is missing is None.

    `refused`: why none of them can be read, of a folder with two versions of one; mostly empty. `unread` are
    problems of files that are called like one of them, and are of a kind that is not read.
    """

    queries: Path | None
    codebase: Path | None
    pairs: Path | None
    refused: Problem | None = None
    unread: tuple[Problem, ...] = ()


def release_in(folder: Path) -> Release:
    """Find a release's files by their old and new names, all pairs before the matches alone."""
    queries, codebase, pairs = (_first(folder, names) for names in (QUERIES, CODE_BASE, PAIRS))
    return Release(queries, codebase, pairs, _refuse_versions(folder), tuple(_unread(folder)))


def _unread(folder: Path) -> Iterator[Problem]:
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if LOST.fullmatch(path.name) and path.is_file():
            why = "is not read: query.json, codebase.json and pairs.json are, each an array of objects"
            yield Problem(str(path), 0, why, costs_labels=True)


def _refuse_versions(folder: Path) -> Problem | None:
    """What is said of a file that is there by the names of two versions, or packed beside itself."""
    for names in (QUERIES, CODE_BASE, PAIRS):
        of_each = (_called(names, [version]) for version in VERSIONS)
        firsts = (next((name for name in called if (folder / name).is_file()), "") for called in of_each)
        if len(two := [name for name in firsts if name][:2]) == 2:
            why = f"has {two[0]} and {two[1]}: leave the one that counts there, and move the other away"
            return Problem(str(folder), 0, why, costs_labels=True)
    return None


def release_at(place: Path) -> Release:
    """A folder's files; or one file by itself, which is what it is called: queries, a code base, or pairs.

    What is called otherwise is read as pairs are: of records without code or label the queries alone come.
    """
    if place.is_dir():
        return release_in(place)
    if place.name in _called(QUERIES):
        return Release(place, None, None)
    return Release(None, place, None) if place.name in _called(CODE_BASE) else Release(None, None, place)


def read_cosqa_plus(release: Release) -> Iterator[Item]:
    """Yield queries, snippets and labels. Queries or snippets without a file of their own are
    those of the pairs; where they have one, a pair of others is refused.
    """
    if release.refused:
        yield release.refused
        return
    yield from release.unread
    pairs, known = release.pairs, TextsById(release.queries, release.codebase)
    for path in (release.queries or pairs, release.codebase or pairs, pairs):
        if path:
            expect_file_read(path)
    if release.queries:
        yield from _as(Query, read_queries(release.queries, LICENCE, known))
    if release.codebase:
        yield from _as(Snippet, read_snippets(release.codebase, LICENCE, known))
    if release.pairs:
        if not release.queries:
            yield from _as(Query, read_queries(release.pairs, LICENCE, known))
        if not release.codebase:
            yield from _as(Snippet, read_code_of_pairs(release.pairs, LICENCE, known))
        yield from (read_pairs if release.queries else read_labels)(release.pairs, known)


def _as(kind: type[Query | Snippet], records: Iterator[Record | Problem]) -> Iterator[Item]:
    for record in records:
        if isinstance(record, Problem):
            yield record
        else:
            yield kind(
                record.text,
                record.source_id,
                record.origin,
                record.licence,
                record.id_from,
                record.has_id,
                record.is_key,
            )


def _first(folder: Path, names: tuple[str, ...]) -> Path | None:
    return next((path for called in _called(names) if (path := folder / called).is_file()), None)


def _called(names: tuple[str, ...], versions: Sequence[tuple[str, str]] = VERSIONS) -> list[str]:
    """What a file of a release may be called, by these versions."""
    return [f"{prefix}{name}{end}" for name in names for prefix, end in versions]
