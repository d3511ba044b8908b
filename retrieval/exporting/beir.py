"""BEIR's and MTEB's folder: `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`, or a file for each part.

Ids are the numbers of a release (`evaluation.export_ids`) with a letter before them, as BEIR takes a document
with its query's id for the query itself and drops it. A pair that is in no file of `qrels/` is
unjudged; BEIR's tools count it as 0.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

from retrieval.exporting.content import Subject, TextStore
from retrieval.exporting.files import Output
from retrieval.exporting.parts import Parts, named_parts
from retrieval.exporting.stores import TICK, Tick, fill_text_store

CORPUS = "corpus.jsonl"
QUERIES = "queries.jsonl"
HEADER = b"query-id\tcorpus-id\tscore\n"


def write_beir_files(subject: Subject, folder: Path, parts: Parts | None, tick: Tick) -> list[str]:
    """Scores are whole numbers, as BEIR's reader takes no others."""
    write_texts(subject, folder, tick)
    names = [f"qrels/{name}.tsv" for name in named_parts(parts, "test")]
    write_judgements(subject, folder, parts, names, b"q%d\td%d\t%d\n", HEADER, tick)
    return [CORPUS, QUERIES, *names]


def write_texts(subject: Subject, folder: Path, tick: Tick) -> None:
    """Both files of texts, with origin and licence of each."""
    for name, letter, entries, held in (
        (QUERIES, b"q", subject.queries(), subject.held_queries),
        (CORPUS, b"d", subject.snippets(), subject.held_snippets),
    ):
        with TextStore() as store, Output(folder, name) as output:
            for row in fill_text_store(entries, store, tick):
                if held.mask[row.position]:
                    continue
                entry = row.entry
                origin = {"source_id": entry.source_id, "origin": entry.origin, "licence": entry.licence}
                title = b'"title": "", ' if name == CORPUS else b""
                told = (letter, row.number, title, row.json, json.dumps(origin).encode())
                output.add(b'{"_id": "%b%d", %b"text": %b, "metadata": %b}\n' % told)


def write_judgements(
    subject: Subject,
    folder: Path,
    parts: Parts | None,
    names: list[str],
    row: bytes,
    header: bytes,
    tick: Tick,
) -> None:
    """`row` takes the numbers of query and snippet, and the relevance."""
    asked, code = subject.query_numbers, subject.snippet_numbers
    with ExitStack() as files:
        outputs = [files.enter_context(Output(folder, name)) for name in names]
        for output in outputs:
            output.file.write(header)
        for number, (query, snippet, relevance, _) in enumerate(subject.open_pairs.rows()):
            told = (asked[query], code[snippet], int(relevance))
            outputs[parts.part_of[query] if parts else 0].add(row % told)
            if not number % TICK:
                tick(TICK)
