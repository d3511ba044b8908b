"""BEIR's and MTEB's folders: `corpus.jsonl`, `queries.jsonl` and `qrels/*.tsv`, all also gzipped.

Corpus: `_id`, `title`, `text`; queries: `_id`, `text`; qrels: columns `query-id`, `corpus-id`, `score`. A
document's text is its title, where it has one, and its text on the next line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from retrieval.sources import GivenLabel, Item, Problem, Query, Scale, Snippet
from retrieval.sources.lookup import Lookup
from retrieval.sources.records import Object, Refused, kind_of, name_of, objects, text_of, whole_number
from retrieval.sources.table import ALLOWED

ID = ("_id", "id")
QUERY_ID = ("query-id", "query_id")
DOCUMENT_ID = ("corpus-id", "corpus_id")
SCORE = "score"


def read(folder: Path, split: str = "") -> Iterator[Item]:
    """Yield queries, snippets and labels, these of one split (`test`) or of all.

    Scores of 0 and 1 are matches and none; where one is above 1 all are on the scale of 0 to 3; others are
    refused. Texts that labels need lie on disk meanwhile.
    """
    qrels = _qrels(folder, split)
    if split and not qrels:
        yield Problem(str(folder), 0, f"has no qrels/{split}.tsv")
    with Lookup() as queries, Lookup() as documents:
        scale = _prepared(qrels, queries, documents)
        yield from _texts(folder, "queries", _query, queries)
        yield from _texts(folder, "corpus", _document, documents)
        for path in qrels:
            yield from _labels(path, scale, queries, documents)


def _qrels(folder: Path, split: str) -> list[Path]:
    found = (path for path in sorted((folder / "qrels").glob("*")) if kind_of(path) in (".tsv", ".jsonl"))
    return [path for path in found if not split or path.name.split(".")[0] == split]


def _prepared(qrels: list[Path], queries: Lookup, documents: Lookup) -> Scale:
    """Note whose texts the labels need, and tell their scale."""
    scale: Scale = "binary"
    for path in qrels:
        for row in objects(path):
            if isinstance(row, Problem):
                continue
            queries.want([name_of(row[1], QUERY_ID, "")])
            documents.want([name_of(row[1], DOCUMENT_ID, "")])
            if str(row[1].get(SCORE)).strip() not in ("0", "1"):
                scale = "graded" if _is_graded(row[1].get(SCORE)) else scale
    return scale


def _is_graded(score: object) -> bool:
    try:
        return whole_number(score, ALLOWED["graded"], SCORE) > 1
    except Refused:
        return False


def _texts(
    folder: Path, name: str, made: Callable[[Path, int, Object], Query | Snippet], lookup: Lookup
) -> Iterator[Item]:
    tried = [folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz"]
    path = next((path for path in tried if path.is_file()), None)
    if path is None:
        yield Problem(str(folder), 0, f"has no {name}.jsonl")
        return
    for row in objects(path):
        if isinstance(row, Problem):
            yield row
            continue
        try:
            record = made(path, *row)
        except Refused as refused:
            yield Problem(str(path), row[0], str(refused))
            continue
        lookup.keep(record.source_id, record.text)
        yield record


def _query(path: Path, number: int, record: Object) -> Query:
    return Query(text_of(record, ["text"]), name_of(record, ID, number - 1), path.parent.name)


def _document(path: Path, number: int, record: Object) -> Snippet:
    title, text = text_of(record, ["title"], needed=False), text_of(record, ["text"])
    whole = f"{title}\n{text}" if title.strip() else text
    return Snippet(whole, name_of(record, ID, number - 1), path.parent.name)


def _labels(path: Path, scale: Scale, queries: Lookup, documents: Lookup) -> Iterator[Item]:
    for row in objects(path):
        if isinstance(row, Problem):
            yield row
            continue
        try:
            yield _label(row[1], scale, queries, documents)
        except Refused as refused:
            yield Problem(str(path), row[0], str(refused))


def _label(record: Object, scale: Scale, queries: Lookup, documents: Lookup) -> GivenLabel:
    value = whole_number(record.get(SCORE), ALLOWED[scale], f'"{SCORE}"')
    query, document = name_of(record, QUERY_ID, ""), name_of(record, DOCUMENT_ID, "")
    asked, found = queries.get(query), documents.get(document)
    if asked is None:
        raise Refused(f"there is no query {query[:40]!r} in queries.jsonl")
    if found is None:
        raise Refused(f"there is no document {document[:40]!r} in corpus.jsonl")
    return GivenLabel(asked, found, value, scale)
