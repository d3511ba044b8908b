"""BEIR's and MTEB's folder: `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`, or a file for each part.

The card says which file is what, for readers of the hub; `mteb_task.py` is the benchmark as MTEB's task.

Ids are the numbers of a release (`evaluation.export_ids`) with a letter before them, as BEIR takes a document
with its query's id for the query itself and drops it. A pair that is in no file of `qrels/` is
unjudged; BEIR's tools count it as 0.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from retrieval.evaluation.citation import cite_benchmark
from retrieval.exporting.card import Licences, format_config, format_dataset_card
from retrieval.exporting.content import Subject, TextStore
from retrieval.exporting.files import Output
from retrieval.exporting.parts import Parts, named_parts
from retrieval.exporting.stores import TICK, Tick, fill_text_store
from retrieval.licences import spdx_expression
from retrieval.models import Benchmark

CORPUS = "corpus.jsonl"
QUERIES = "queries.jsonl"
CARD = "README.md"
MTEB_TASK = "mteb_task.py"
HEADER = b"query-id\tcorpus-id\tscore\n"
JUDGEMENTS = "judgements"
JUDGEMENT = b'{"query-id": "q%d", "corpus-id": "d%d", "score": %d}\n'
"""For readers of the hub, which take one kind of file in a folder, and for MTEB."""
MTEB_PROGRAM = '''"""Measure a model on this folder: python mteb_task.py MODEL (needs mteb 2 or newer)."""
import sys
from pathlib import Path
import mteb
from mteb.abstasks import AbsTaskRetrieval
from sentence_transformers import SentenceTransformer


class CodeSearch(AbsTaskRetrieval):
    metadata = mteb.TaskMetadata(
        name=%(name)s, description=%(title)s, bibtex_citation=%(cite)s,
        dataset={"path": str(Path(__file__).resolve().parent), "revision": %(revision)s},
        type="Retrieval", category="t2t", eval_langs=["eng-Latn"], eval_splits=["test"],
        main_score="ndcg_at_10",
    )


if __name__ == "__main__":
    load = SentenceTransformer if Path(sys.argv[1]).is_dir() else mteb.get_model
    print(mteb.evaluate(load(sys.argv[1]), CodeSearch(), cache=None).to_dataframe())
'''
"""Of at most twenty lines, as somebody reads it before it is run."""


def write_beir_files(subject: Subject, folder: Path, parts: Parts | None, tick: Tick) -> list[str]:
    """Scores are whole numbers, as BEIR's reader takes no others."""
    licences = write_texts(subject, folder, tick)
    split_names = named_parts(parts, "test")
    tables = [f"qrels/{name}.tsv" for name in split_names]
    lines = [f"{JUDGEMENTS}/{name}.jsonl" for name in split_names]
    write_judgements(subject, folder, parts, tables, b"q%d\td%d\t%d\n", HEADER, tick)
    write_judgements(subject, folder, parts, lines, JUDGEMENT, b"", tick, matched_only=True)
    configs = [
        *format_config("corpus", {"corpus": CORPUS}),
        *format_config("queries", {"queries": QUERIES}),
        *format_config("default", dict(zip(split_names, lines, strict=True)), default=True),
    ]
    (folder / CARD).write_text(format_dataset_card(subject, parts, configs, licences), "utf-8")
    (folder / MTEB_TASK).write_text(format_mteb_task(subject.benchmark), "utf-8")
    return [CARD, CORPUS, QUERIES, *tables, *lines, MTEB_TASK]


def format_mteb_task(benchmark: Benchmark) -> str:
    """A program that measures a model, `python mteb_task.py MODEL`, or lends its class to others."""
    told = {
        "name": repr(f"{benchmark.name}.{benchmark.version}"),
        "title": repr(f"{benchmark.name}, version {benchmark.version}: code search"),
        "revision": repr(benchmark.digest[:12]),
        "cite": repr(cite_benchmark(benchmark)),
    }
    return MTEB_PROGRAM % told


def write_texts(subject: Subject, folder: Path, tick: Tick) -> Licences:
    """Both files of texts, with origin and licence of each. Returns how many snippets have each licence."""
    licences: Licences = Counter()
    for name, letter, entries, held in (
        (QUERIES, b"q", subject.queries(), subject.held_queries),
        (CORPUS, b"d", subject.snippets(), subject.held_snippets),
    ):
        with TextStore() as store, Output(folder, name) as output:
            for row in fill_text_store(entries, store, tick):
                if held.mask[row.position]:
                    continue
                entry = row.entry
                if name == CORPUS:
                    licences[spdx_expression(entry.licence)] += 1
                origin = {"source_id": entry.source_id, "origin": entry.origin, "licence": entry.licence}
                title = b'"title": "", ' if name == CORPUS else b""
                told = (letter, row.number, title, row.json, json.dumps(origin).encode())
                output.add(b'{"_id": "%b%d", %b"text": %b, "metadata": %b}\n' % told)
    return licences


def write_judgements(
    subject: Subject,
    folder: Path,
    parts: Parts | None,
    names: list[str],
    row: bytes,
    header: bytes,
    tick: Tick,
    *,
    matched_only: bool = False,
) -> None:
    """`row` takes the numbers of query and snippet, and the relevance.

    `matched_only` leaves queries without a match out, of which some tools make a 0 in their means.
    """
    pairs = subject.open_pairs
    matched = set(pairs.queries[pairs.relevances > 0].tolist()) if matched_only else None
    asked, code = subject.query_numbers, subject.snippet_numbers
    with ExitStack() as files:
        outputs = [files.enter_context(Output(folder, name)) for name in names]
        for output in outputs:
            output.file.write(header)
        for number, (query, snippet, relevance, _) in enumerate(pairs.rows()):
            if matched is not None and query not in matched:
                continue
            told = (asked[query], code[snippet], int(relevance))
            outputs[parts.part_of[query] if parts else 0].add(row % told)
            if not number % TICK:
                tick(TICK)
