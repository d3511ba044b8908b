"""Neural Code Search's questions with their answers, and its score sheet.

Questions: a JSON array with `stackoverflow_id`, `question`, `question_url`, `answer` and `answer_url`.
Score sheet: a CSV file with a column `SYSTEM FRank` for each system: for each question the rank of its first
answer, from 1 on, or `NF`, not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from retrieval.sources import GivenLabel, Item, Problem, Query, Snippet
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


def read_questions(path: Path) -> Iterator[Item]:
    """Yield each question, its answer as a snippet, and the label that says so."""
    expect_file_read(path)
    for row in read_record_objects(path):
        if isinstance(row, Problem):
            yield row.with_labels
        else:
            yield from _question(path, *row)


def _question(path: Path, number: int, record: Object) -> Iterator[Item]:
    try:
        question, answer = text_of_record(record, ["question"]), text_of_record(record, ["answer"])
        name, key = read_id(record, ["stackoverflow_id"])
    except Refused as refused:
        yield Problem(str(path), number, str(refused), costs_labels=True)
        return
    yield Query(question, name, name_of_record(record, ["question_url"], path.name), LICENCE, key)
    yield Snippet(answer, name, name_of_record(record, ["answer_url"], path.name), LICENCE, key)
    yield GivenLabel(question, answer, 1, "binary", name, name)


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
