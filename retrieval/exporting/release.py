"""The files of a CoSQA+ release: `query.json`, `codebase.json`, `pairs.json`, `pairs_true.json`.

Keys and shapes are those that the authors' scripts read; with a split also their `finetune/` files. All is
ASCII, as those scripts open files in the encoding of whoever runs them. `label` is 0 or 1: a relevance above
0 is 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from retrieval.exporting.content import MemberEntry, Subject, TextStore
from retrieval.exporting.files import JsonArray, Output
from retrieval.exporting.parts import Parts
from retrieval.exporting.provenance import QUERIES, SNIPPETS, note_member_origins
from retrieval.exporting.splits import PARTS

Tick = Callable[[int], None]
TICK = 2000


def write_release_files(subject: Subject, folder: Path, parts: Parts | None, tick: Tick) -> list[str]:
    """Write the release; gives the names of its files."""
    with TextStore() as queries, TextStore() as snippets:
        _write_members(subject.queries(), folder, "query", queries, subject, tick)
        _write_members(subject.snippets(), folder, "code", snippets, subject, tick)
        _write_pairs(subject, folder, queries, snippets, tick)
        names = ["query.json", "codebase.json", "pairs.json", "pairs_true.json", QUERIES, SNIPPETS]
        if parts is None:
            return names
        return [*names, *_write_finetune(subject, folder, parts, queries, snippets)]


def _write_members(
    entries: Iterator[MemberEntry], folder: Path, key: str, store: TextStore, subject: Subject, tick: Tick
) -> None:
    """`query.json` or `codebase.json`, and where each came from."""
    is_query = key == "query"
    name, side = ("query.json", QUERIES) if is_query else ("codebase.json", SNIPPETS)
    withheld = (subject.held_queries if is_query else subject.held_snippets).mask
    row = b'{"%b-idx": %%d, "%b": %%b}' % (key.encode(), key.encode())
    with JsonArray(folder, name) as output, Output(folder, side) as provenance:
        for entry in note_member_origins(entries, f"{key}-idx", provenance):
            text = store.add(entry.text)
            if not withheld[entry.position]:
                output.add(row % (entry.number, text))
            if not entry.position % TICK:
                tick(TICK)
    store.done()


def _write_pairs(subject: Subject, folder: Path, queries: TextStore, snippets: TextStore, tick: Tick) -> None:
    """`pairs.json`, and the matches alone."""
    with JsonArray(folder, "pairs.json") as every, JsonArray(folder, "pairs_true.json") as matches:
        for number, _, row in pair_rows(subject, queries, snippets):
            every.add(row)
            if row.endswith(b"1}"):
                matches.add(row)
            if not number % TICK:
                tick(TICK)


def pair_rows(subject: Subject, queries: TextStore, snippets: TextStore) -> Iterator[tuple[int, int, bytes]]:
    """Yield (number, query's position, record) of each pair that may be passed on."""
    asked, code = subject.query_numbers, subject.snippet_numbers
    last, text = -1, b""
    for number, (query, snippet, relevance, _) in enumerate(subject.open_pairs.rows()):
        if query != last:
            last, text = query, queries.get(query)
        told = (number, asked[query], text, code[snippet], snippets.get(snippet), relevance > 0)
        yield number, query, PAIR % told


PAIR = b'{"pair-idx": %d, "query-idx": %d, "query": %b, "code-idx": %d, "code": %b, "label": %d}'


def _write_finetune(
    subject: Subject, folder: Path, parts: Parts, queries: TextStore, snippets: TextStore
) -> list[str]:
    """`finetune/…_query.json` and, of matches alone, `finetune/…_query_code_pairs.json`."""
    asked = [f"finetune/{part}_query.json" for part in PARTS]
    pairs = [f"finetune/{part}_query_code_pairs.json" for part in PARTS]
    with ExitStack() as files:
        outputs = [files.enter_context(JsonArray(folder, name)) for name in asked]
        for position in np.flatnonzero(~subject.held_queries.mask).tolist():
            told = (subject.query_numbers[position], queries.get(position))
            outputs[parts.part_of[position]].add(b'{"query-idx": %d, "query": %b}' % told)
        outputs = [files.enter_context(JsonArray(folder, name)) for name in pairs]
        for _, query, row in pair_rows(subject, queries, snippets):
            if row.endswith(b"1}"):
                outputs[parts.part_of[query]].add(row)
    return [*asked, *pairs]
