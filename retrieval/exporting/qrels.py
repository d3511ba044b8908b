"""TREC qrels: `query 0 document relevance`, and the texts as BEIR has them. What has no line is unjudged."""

from __future__ import annotations

from pathlib import Path

from retrieval.exporting.beir import CORPUS, QUERIES, write_judgements, write_texts
from retrieval.exporting.content import Subject
from retrieval.exporting.parts import Parts, named_parts
from retrieval.exporting.stores import Tick


def write_qrels_files(subject: Subject, folder: Path, parts: Parts | None, tick: Tick) -> list[str]:
    """`qrels.txt`, or a file for each part of a split."""
    names = [f"qrels-{name}.txt" for name in named_parts(parts, "")] if parts else ["qrels.txt"]
    write_judgements(subject, folder, parts, names, b"q%d 0 d%d %d\n", b"", tick)
    write_texts(subject, folder, tick)
    return [*names, QUERIES, CORPUS]
