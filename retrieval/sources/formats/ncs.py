"""Neural Code Search's questions, with the methods that answer them or their answers, and its score sheet.

Questions: a JSON array with `stackoverflow_id`, `question`, `question_url`, `answer`, `answer_url`, and in
`examples` and `examples_url` ids and links of methods of the search corpus that match. The answers are code
of Stack Overflow, by which results are judged; they are nothing that is searched.
Score sheet: a CSV file with a column `SYSTEM FRank` for each system: for each question the rank of its first
answer, from 1 on, or `NF`, not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from retrieval.sources import GivenLabel, Item, Problem, Query, Snippet
from retrieval.sources.formats.ncs_corpus import Checkouts, parse_method_link, read_search_corpus
from retrieval.sources.readers.lines import Malformed, clip_text, csv_rows, read_numbered_lines
from retrieval.sources.readers.read_progress import expect_file_read
from retrieval.sources.readers.records import (
    Object,
    Refused,
    name_of_record,
    read_id,
    read_record_objects,
    text_of_record,
)

SUFFIX = " FRank"
NOT_FOUND = "NF"
RANK = re.compile(r"[1-9][0-9]{0,8}")
LICENCE = "CC-BY-NC-4.0"


def read_questions(path: Path, answers: bool = False) -> Iterator[Item]:
    """Yield each question; with `answers` its answer as a snippet, and the label that says so."""
    expect_file_read(path)
    for row in read_record_objects(path):
        if isinstance(row, Problem):
            yield row.with_labels if answers else row
        else:
            yield from _question(path, *row, answers)


def read_search_task(path: Path, corpus: Sequence[Path], folder: Path) -> Iterator[Item]:
    """Yield the questions, the methods of the search corpus, and the examples as matches.

    Code comes from checkouts in `folder`. Without files of the corpus the examples alone are searched.
    """
    checkouts = Checkouts(folder)
    for file in corpus:
        yield from read_search_corpus(file, checkouts)
    expect_file_read(path)
    for row in read_record_objects(path):
        if isinstance(row, Problem):
            yield row.with_labels
        else:
            yield from _matches(path, *row, checkouts)
    yield from checkouts.problems()


def _question(path: Path, number: int, record: Object, answers: bool) -> Iterator[Item]:
    try:
        question = _query(path, record)
        answer = text_of_record(record, ["answer"]) if answers else ""
    except Refused as refused:
        yield Problem(str(path), number, str(refused), costs_labels=answers)
        return
    yield question
    if answers:
        link = name_of_record(record, ["answer_url"], path.name)
        yield Snippet(answer, question.source_id, link, LICENCE, question.id_from)
        yield GivenLabel(question.text, answer, 1, "binary", question.source_id, question.source_id)


def _matches(path: Path, number: int, record: Object, checkouts: Checkouts) -> Iterator[Item]:
    try:
        question = _query(path, record)
        examples = _examples(record)
    except Refused as refused:
        yield Problem(str(path), number, str(refused), costs_labels=True)
        return
    yield question
    for name, link in examples:
        try:
            code = checkouts.code_of(parse_method_link(link))
        except Refused as refused:
            yield Problem(str(path), number, f"example {name}: {refused}", costs_labels=True)
            continue
        if code:
            yield Snippet(code, name, link, "", "examples")
            yield GivenLabel(question.text, code, 1, "binary", question.source_id, name)


def _query(path: Path, record: Object) -> Query:
    name, key = read_id(record, ["stackoverflow_id"])
    link = name_of_record(record, ["question_url"], path.name)
    return Query(text_of_record(record, ["question"]), name, link, LICENCE, key)


def _examples(record: Object) -> list[tuple[str, str]]:
    """Ids and links of the methods that match. Raises `Refused`."""
    ids, links = record.get("examples"), record.get("examples_url")
    if not isinstance(ids, list) or not isinstance(links, list) or len(ids) != len(links):
        raise Refused('"examples" and "examples_url" must be lists of the same length')
    if any(isinstance(name, bool) or not isinstance(name, int | str) for name in ids):
        raise Refused('"examples" must be ids')
    return [(str(name), str(link)) for name, link in zip(ids, links, strict=True)]


def read_score_sheet(path: Path) -> dict[str, list[int | None]]:
    """The first ranks of each system by its name in the header, in the questions' order; None for `NF`.

    Raises `Malformed`.
    """
    rows = csv_rows(path, read_numbered_lines(path))
    first_line, header = next(rows, (0, []))
    systems = _systems(path, first_line, header)
    ranks: dict[str, list[int | None]] = {system: [] for system in systems}
    for line, row in rows:
        if len(row) != len(header):
            raise Malformed(path, line, f"expected {len(header)} columns as in the header, found {len(row)}")
        for system, place in systems.items():
            ranks[system].append(_rank(path, line, system, row[place].strip()))
    if not any(ranks.values()):
        raise Malformed(path, 0, "has a header and no questions")
    return ranks


def _systems(path: Path, line: int, header: list[str]) -> dict[str, int]:
    """The place of each system's column."""
    systems: dict[str, int] = {}
    for place, title in enumerate(header):
        name = title.strip().removesuffix(SUFFIX)
        if name == title.strip():
            continue
        if name in systems:
            raise Malformed(path, line, f"has two columns of the system {clip_text(name)}")
        systems[name] = place
    if not systems:
        found = f"found {clip_text(','.join(header))}" if header else "the file is empty"
        raise Malformed(path, line, f"expected a header with columns named 'SYSTEM{SUFFIX}', {found}")
    return systems


def _rank(path: Path, line: int, system: str, written: str) -> int | None:
    if written == NOT_FOUND:
        return None
    if not RANK.fullmatch(written):
        expected = f"expected a rank from 1 on or {NOT_FOUND} for {clip_text(system)}"
        raise Malformed(path, line, f"{expected}, found {clip_text(written)}")
    return int(written)
