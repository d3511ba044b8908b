"""BEIR's and MTEB's folders: `corpus.jsonl`, `queries.jsonl` and `qrels/*.tsv`, all also gzipped, or Parquet.

Corpus: `_id`, `title`, `text`; queries: `_id`, `text`; qrels: columns `query-id`, `corpus-id`, `score`. Ids
may have another of the field's names (`ANY_ID`, `IDS_OF_QUERIES`, `IDS_OF_DOCUMENTS`). A document's text is
its title, where it has one, and its text on the next line. A folder with texts or labels by two names, as
`corpus.jsonl` and `corpus.jsonl.gz` are, is refused. Labels may also be CSV, JSON Lines, JSON, or TREC's
(`qrels/test.txt`); what else lies there is told.

Parquet lies as the hub has it, in any number of parts: `corpus/`, `queries/` and `qrels/` (or the default
configuration: `data/`, `default/`) with `SPLIT-00000-of-00001.parquet`; in `data/` also corpus and queries;
as the hub converts it, `corpus/SPLIT/0000.parquet`; or as `export parquet` writes it. `export huggingface`
writes JSON Lines in `data/`. Of a folder with a data set for each language one is chosen
(`retrieval.sources.formats.beir_places`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from retrieval.sources import GRADES, GivenLabel, Item, Problem, Query, Scale, Snippet, scale_of_grades
from retrieval.sources.formats import trec
from retrieval.sources.formats.beir_places import (
    CALLED,
    NAMES,
    OF_LABELS,
    OF_TREC,
    QRELS,
    BeirPlace,
    NotChosen,
    place_of,
)
from retrieval.sources.formats.table import grade_of
from retrieval.sources.readers.lines import Malformed
from retrieval.sources.readers.lookup import Lookup
from retrieval.sources.readers.parquet import (
    ENDING,
    MissingLibrary,
    import_pyarrow,
    missing_parts,
    read_parquet_rows,
)
from retrieval.sources.readers.read_progress import expect_file_read
from retrieval.sources.readers.records import (
    SEPARATORS,
    Object,
    Refused,
    is_json_object,
    kind_of,
    name_of_record,
    read_id,
    read_record_objects,
    text_of_record,
    whole_number,
)
from retrieval.sources.readers.seen_ids import Seen

ANY_ID = ("_id", "id", "idx", "number")
"""What an id of either is called, the likelier names first."""
IDS_OF_QUERIES = ("query-id", "query_id", "queryid", "query_idx", "qid", "topic_id")
IDS_OF_DOCUMENTS = (
    *("corpus-id", "corpus_id", "doc-id", "doc_id", "docid", "docno", "document_id", "code_idx", "code_id"),
    *("passage_id", "pid"),
)
QUERY_ID = (*IDS_OF_QUERIES, "query")
DOCUMENT_ID = (*IDS_OF_DOCUMENTS, "code")
SCORE = ("score", "relevance")
ORIGIN, LICENCE, METADATA = "origin", ("licence", "license"), "metadata"
TEXTS = ("title", "text", "query", "code")
OF_TEXTS = (*ANY_ID, *IDS_OF_QUERIES, *IDS_OF_DOCUMENTS, *TEXTS, ORIGIN, *LICENCE, METADATA)
LABELLED = (QUERY_ID, DOCUMENT_ID, SCORE)
COLUMNS_OF_LABELS = (*QUERY_ID, *DOCUMENT_ID, *SCORE)

__all__ = ["NotChosen", "read_beir_folder"]


def read_beir_folder(folder: Path, split: str = "", configuration: str = "") -> Iterator[Item]:
    """Yield queries, snippets and labels, these of one split (`test`) or of all.

    Of several data sets in the folder (`python-corpus/` …) those of the one that is called so (`python`).
    Raises NotChosen before anything is read, where a name is needed or isn't there.

    Scores are whole numbers. Those of 0 and 1 are matches and none; where one is above 1 all are on the scale
    of 0 to 3, and where one is above 3 or below 0 all are relevances, a match above 0.
    Texts that labels need lie on disk meanwhile.
    """
    if folder.is_file():
        yield Problem(str(folder), 0, "is a file: unpack it and name the folder, or upload it on its page")
        return
    place = place_of(folder, configuration)
    if why := place.why_refused(split):
        yield Problem(str(place.folder), 0, why, costs_labels=True)
        return
    qrels, texts = place.qrels(split), {name: place.texts(name) for name in NAMES}
    every = [*texts["queries"], *texts["corpus"], *qrels]
    if any(path.suffix == ENDING for path in every):
        try:
            import_pyarrow()
        except MissingLibrary as missing:
            yield Problem(str(folder), 0, str(missing))
            return
    for path in [*every, *qrels]:  # labels are read twice
        expect_file_read(path)
    yield from missing_parts(every)
    yield from _lost_labels(place, split)
    with Lookup() as queries, Lookup() as documents:
        scale = _prepared(qrels, queries, documents)
        for name, made, lookup in (("queries", _query, queries), ("corpus", _document, documents)):
            if not texts[name]:
                none = f"has no {place.prefix}{name}.jsonl and no Parquet files of {name}"
                yield Problem(str(place.folder), 0, none)
            seen = Seen()  # of all parts together
            for path in texts[name]:
                yield from _texts(path, place.origin, made, lookup, seen)
        for path in qrels:
            yield from _labels(path, scale, queries, documents)


def _lost_labels(place: BeirPlace, split: str) -> Iterator[Problem]:
    """What is said of labels that are not there, or where nobody reads them; of texts there, too."""
    if split and not place.qrels(split):
        missing = f"has no {place.prefix}{QRELS}/{split}.tsv"
        yield Problem(str(place.folder), 0, missing, costs_labels=True)
    for path in place.unread(split):
        yield _unread(path, place.prefix)


def _unread(path: Path, prefix: str) -> Problem:
    """What is said of a file that lies among labels, or is called like one of ours, and is not read."""
    of_texts = path.name.removeprefix(prefix).startswith(CALLED) and path.parent.name != f"{prefix}{QRELS}"
    if of_texts:
        places = f"texts are in {prefix}corpus.jsonl and {prefix}queries.jsonl"
    else:
        places = f"labels are in {prefix}{QRELS}/, as {', '.join(filter(None, OF_LABELS))} or Parquet"
    return Problem(str(path), 0, f"is not read: {places}", costs_labels=not of_texts)


def _records(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, Object] | Problem]:
    return read_parquet_rows(path, columns) if path.suffix == ENDING else read_record_objects(path)


def _label_records(path: Path) -> Iterator[tuple[int, Object] | Problem]:
    """The records of a file of labels; those of TREC's qrels under the names that BEIR has for them."""
    if kind_of(path) not in OF_TREC and not (kind_of(path) == ".json" and is_json_object(path)):
        yield from _records(path, COLUMNS_OF_LABELS)
        return
    try:
        read = trec.read_qrels(path)
        if read.has_languages:
            raise Malformed(path, 1, "names queries by their texts: import it by itself, as qrels")
        for row in read.rows:
            keys = zip(LABELLED, (row.query, row.document, row.relevance), strict=True)
            yield row.line, {names[0]: value for names, value in keys}
    except Malformed as malformed:
        yield Problem(str(path), malformed.line, malformed.message, costs_labels=True)


def _prepared(qrels: list[Path], queries: Lookup, documents: Lookup) -> Scale:
    """Note whose texts the labels need, and tell their scale."""
    grades = set[int]()
    for path in qrels:
        for row in _label_records(path):
            if isinstance(row, Problem):
                continue
            queries.want([name_of_record(row[1], QUERY_ID, "")])
            documents.want([name_of_record(row[1], DOCUMENT_ID, "")])
            if (grade := grade_of(_score(row[1]))) is not None:
                grades.add(grade)
    return scale_of_grades(grades)


def _score(record: Object) -> object:
    return next((record[key] for key in SCORE if key in record), None)


def _texts(
    path: Path,
    origin: str,
    made: Callable[[str, Object], Query | Snippet],
    lookup: Lookup,
    seen: Seen,
) -> Iterator[Item]:
    for row in _records(path, OF_TEXTS):
        if isinstance(row, Problem):
            yield row
            continue
        try:
            record = made(origin, row[1])
            _refuse_again(record, seen)
        except Refused as refused:
            yield Problem(str(path), row[0], str(refused))
            continue
        lookup.keep(record.source_id, record.text)
        yield record


def _refuse_again(record: Query | Snippet, seen: Seen) -> None:
    """Raises Refused for an id that stood for another text."""
    if why := seen.refusal(record.source_id, record.text):
        raise Refused(why)


def _query(origin: str, record: Object) -> Query:
    text = text_of_record(record, [_key(record, "query")])
    name, key = read_id(record, (*ANY_ID, *IDS_OF_QUERIES))
    return Query(text, name, *_told(origin, record), key, is_key=True)


def _document(origin: str, record: Object) -> Snippet:
    title = text_of_record(record, ["title"], needed=False)
    text = text_of_record(record, [_key(record, "code")], needed=not title.strip())
    whole = "\n".join(part for part in (title, text) if part.strip())
    name, key = read_id(record, (*ANY_ID, *IDS_OF_DOCUMENTS))
    return Snippet(whole, name, *_told(origin, record), key, is_key=True)


def _key(record: Object, ours: str) -> str:
    """Where a record has its text: in `text`, or as our exports for the hub and to Parquet write it."""
    return ours if ours in record and "text" not in record else "text"


def _told(origin: str, record: Object) -> tuple[str, str]:
    """Origin and licence of a record that tells them, also in its metadata, where our exports have them."""
    metadata = record.get(METADATA)
    inside = metadata if isinstance(metadata, dict) else {}
    came_from = name_of_record(record, [ORIGIN], "") or name_of_record(inside, [ORIGIN], "")
    return came_from or origin, name_of_record(record, LICENCE, "") or name_of_record(inside, LICENCE, "")


def _labels(path: Path, scale: Scale, queries: Lookup, documents: Lookup) -> Iterator[Item]:
    rows = iter(_label_records(path))
    first = next(rows, None)
    if why := _another_table(path, first):
        yield Problem(str(path), 0, why, costs_labels=True)
        return
    for row in chain([first] if first else [], rows):
        if isinstance(row, Problem):
            yield row.with_labels
            continue
        try:
            yield _label(row[1], scale, queries, documents)
        except Refused as refused:
            yield Problem(str(path), row[0], str(refused), costs_labels=True)


def _another_table(path: Path, first: tuple[int, Object] | Problem | None) -> str:
    """Why a table has no labels: its first line, which names the columns, is a label, or names others."""
    if kind_of(path) not in SEPARATORS or isinstance(first, Problem):
        return ""
    wanted = ", ".join(keys[0] for keys in LABELLED)
    if first is None:
        return f"has no label below its first line, which names the columns {wanted}"
    if all(any(key in first[1] for key in keys) for keys in LABELLED):
        return ""
    has = ", ".join(f'"{name}"' for name in list(first[1])[:8])
    return f"its first line must name the columns {wanted}; it is {has}"


def _label(record: Object, scale: Scale, queries: Lookup, documents: Lookup) -> GivenLabel:
    value = whole_number(_score(record), GRADES[scale], f'"{SCORE[0]}"')
    (query, asked_by), (document, found_by) = read_id(record, QUERY_ID), read_id(record, DOCUMENT_ID)
    asked, found = queries.get(query), documents.get(document)
    if asked is None:
        raise Refused(f"there is no query {query[:40]!r} among the queries")
    if found is None:
        raise Refused(f"there is no document {document[:40]!r} in the corpus")
    return GivenLabel(asked, found, value, scale, query, document, f"{asked_by} and {found_by}")
