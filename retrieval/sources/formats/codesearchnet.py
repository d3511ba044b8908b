"""CodeSearchNet's corpus: JSON Lines, packed or not, Parquet, or the pickled list of all functions.

Each record is a function with `code` (or `original_string`), `repo`, `path`, `func_name`, `url`, `language`,
`docstring`, and in what `extract` writes `licence`; the names that the Hugging Face copy and the pickle gave
these keys are read too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from retrieval.sources import GivenLabel, Item, Problem, Query, Snippet
from retrieval.sources.code.documentation import first_paragraph, worth_asking
from retrieval.sources.formats.codesearchnet_places import (
    PICKLE,
    find_skipped_files,
    is_licence_pickle,
    list_function_files,
    read_definitions,
    read_licences,
    tell_skipped_files,
)
from retrieval.sources.readers.parquet import read_any_records
from retrieval.sources.readers.read_progress import expect_file_read
from retrieval.sources.readers.records import (
    ROW_NUMBER,
    IdsOfFile,
    Object,
    Refused,
    name_of_record,
    text_of_record,
)

LANGUAGES = ("go", "java", "javascript", "php", "python", "ruby")
CODE = ("code", "original_string", "func_code_string", "whole_func_string", "function")
DOCUMENTATION = ("docstring", "func_documentation_string")
LINK = ("url", "func_code_url")
REPOSITORY = ("repo", "repository_name", "nwo")
PLACE = ("path", "func_path_in_repository")
NAME = ("func_name", "identifier")
LICENCE = ("licence", "license")
PARTITION = ("partition", "split_name")
PARTITIONS = {"train": "train", "valid": "valid", "validation": "valid", "dev": "valid", "test": "test"}
OF_FILE = re.compile(r"[a-z]+_(train|valid|test)_\d+\.jsonl")
OTHER_IDS = (*LINK, "idx", "id", "_id", "retrieval_idx", "code_idx", "code-idx", "number")
"""What tells a function that has no place or no name."""
KINDS_READ = (
    "Functions are read from .jsonl (also packed), .parquet and *definitions*.pkl; licences from "
    "*_licenses.pkl."
)
COLUMNS = (*CODE, *DOCUMENTATION, *OTHER_IDS, *REPOSITORY, *PLACE, *NAME, *LICENCE, *PARTITION, "language")


def read_codesearchnet(places: Sequence[Path], documentation: bool = False) -> Iterator[Item]:
    """Yield the functions of files and folders, in order of path.

    With `documentation`, the first paragraph of each function's documentation is a query, labelled as
    answered by it; paragraphs of less than three words are none. Files of a folder that look like data and
    are not read are named in a problem.
    """
    files = [path for place in places for path in list_function_files(place)]
    for path in files:
        expect_file_read(path, 2 if path.suffix == PICKLE else 1)
    for place in places:
        if skipped := find_skipped_files(place):
            yield tell_skipped_files(str(place), skipped, KINDS_READ)
    licences = dict[str, str]()
    for path in filter(is_licence_pickle, files):
        yield from read_licences(path, licences)
    for path in files:
        if not is_licence_pickle(path):
            yield from _functions_of_file(path, documentation, licences)


def _functions_of_file(path: Path, documentation: bool, licences: Mapping[str, str]) -> Iterator[Item]:
    ids = IdsOfFile()
    rows = read_definitions(path) if path.suffix == PICKLE else read_any_records(path, COLUMNS)
    for row in rows:
        if isinstance(row, Problem):
            yield row.with_labels if documentation else row
        else:
            yield from _codesearchnet_items(path, *row, documentation, ids, licences)


def _codesearchnet_items(
    path: Path,
    number: int,
    record: Object,
    documentation: bool,
    ids: IdsOfFile,
    licences: Mapping[str, str],
) -> Iterator[Item]:
    try:
        snippet = replace(_snippet(record, number, ids, licences), partition=partition_of(record, path))
        said = first_paragraph(text_of_record(record, DOCUMENTATION, needed=False)) if documentation else ""
    except Refused as refused:
        yield Problem(str(path), number, str(refused), costs_labels=documentation)
        return
    yield snippet
    if worth_asking(said):
        yield Query(
            said,
            snippet.source_id,
            snippet.origin,
            id_from=snippet.id_from,
            has_id=snippet.has_id,
            partition=snippet.partition,
        )
        name = snippet.source_id if snippet.has_id else ""
        yield GivenLabel(said, snippet.text, 1, "binary", name, name, snippet.id_from)


def partition_of(record: Object, path: Path) -> str:
    """Train, valid or test, as the record says, else as its file is called (`python_train_0.jsonl.gz`)."""
    told = next((record[name] for name in PARTITION if isinstance(record.get(name), str)), "")
    if not told:
        named = OF_FILE.match(path.name)
        told = named[1] if named else ""
    return PARTITIONS.get(told.lower(), "")


def _snippet(record: Object, number: int, ids: IdsOfFile, licences: Mapping[str, str]) -> Snippet:
    language = record.get("language", "python")
    if language not in LANGUAGES:
        raise Refused(f'"language" is {str(language)[:20]!r}; expected one of {", ".join(LANGUAGES)}')
    repository, place = name_of_record(record, REPOSITORY, ""), name_of_record(record, PLACE, "")
    within = "/".join(part for part in (repository, place) if part)
    name = name_of_record(record, NAME, "")
    text = text_of_record(record, CODE)
    source_id, read = f"{within}::{name}", f"{'repository and ' if repository else ''}path and name"
    if not (place and name):
        source_id, read = ids.read(number, record, OTHER_IDS)
    licence = name_of_record(record, LICENCE, licences.get(repository, ""))
    link = name_of_record(record, LINK, within)
    return Snippet(text, source_id, link, licence, read, read != ROW_NUMBER)
