"""Planted pairs: known answers for onboarding and attention, by file or by id. Never counted in a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from annotation.models import Study, StudyPair
from annotation.studies.adjudication.quorum import VALUES
from annotation.studies.sampling.sample_order import SampleRefused
from retrieval.models import Pair, Text
from retrieval.models.blobs import digest_of
from retrieval.models.texts import canonicalize_text
from retrieval.sources import Problem
from retrieval.sources.readers.table_rows import lines_of_text, read_table_rows
from retrieval.texts.hostile import mark_hostile_characters

MOST_PLANTED: Final = 200
LONGEST_FILE: Final = 2_000_000
KINDS: Final = (StudyPair.Planted.ONBOARDING.value, StudyPair.Planted.ATTENTION.value)


@dataclass(frozen=True, slots=True)
class Planted:
    """A pair with a known answer; `other` is the second snippet's pair of a comparison."""

    pair: int
    kind: str
    answer: int
    other: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the file, checked. `pair` is an id where one was given, else `query` and `code` are."""

    kind: str
    answer: int
    pair: int | None = None
    query: str = ""
    code: str = ""
    other: str = ""
    reason: str = ""


def read_planted_lines(text: str, scale: str) -> list[Line]:
    """The lines of a CSV with the columns kind, answer and either pair (an id) or query and code.

    A comparison has its second snippet in the column other. The column reason may say why the answer is
    right. Raises SampleRefused with the line's number.
    """
    if not text.strip():
        return []
    if len(text) > LONGEST_FILE:
        raise SampleRefused(f"The planted pairs are larger than {LONGEST_FILE // 1_000_000} MB.")
    found = list[Line]()
    for row in read_table_rows(lines_of_text(mark_hostile_characters(text)), ""):
        if isinstance(row, Problem):
            raise SampleRefused(f"Line {row.record} of the planted pairs: {row.message}.")
        found.append(line_of(*row, scale))
    if not found:
        raise SampleRefused("The planted pairs are a header alone, with no pair below it.")
    if len(found) > MOST_PLANTED:
        raise SampleRefused(f"At most {MOST_PLANTED} planted pairs; these are {len(found):,}.")
    return found


def line_of(number: int, row: Mapping[str, str], scale: str) -> Line:
    cells = {name.lower(): cell for name, cell in row.items()}
    kind, said = cells.get("kind", "").strip(), cells.get("answer", "").strip()
    if kind not in KINDS:
        raise SampleRefused(
            f"Line {number} of the planted pairs: kind is {' or '.join(KINDS)}, not {kind!r}."
        )
    allowed = {str(value): value for value in sorted(VALUES[scale])}
    if said not in allowed:
        raise SampleRefused(f"Line {number} of the planted pairs: answer is one of {', '.join(allowed)}.")
    return what_of(number, cells, Line(kind, allowed[said]), scale == Study.Scale.PREFERENCE)


def what_of(number: int, cells: Mapping[str, str], line: Line, of_two: bool) -> Line:
    """The line with the pair that it is about."""
    query, code, other = (cells.get(name, "").strip() for name in ("query", "code", "other"))
    if of_two and not other:
        raise SampleRefused(
            f"Line {number} of the planted pairs: other is the second function, and is empty."
        )
    line = replace(line, other=other if of_two else "", reason=cells.get("reason", "").strip())
    given = cells.get("pair", "").strip()
    if given:
        if not given.isdecimal() or len(given) > 18:
            raise SampleRefused(f"Line {number} of the planted pairs: pair is the number of a pair.")
        return replace(line, pair=int(given))
    if not query or not code:
        raise SampleRefused(f"Line {number} of the planted pairs needs a pair, or a query and its code.")
    return replace(line, query=query, code=code)


def plant_known_pairs(lines: list[Line]) -> list[Planted]:
    """The planted pairs, whose texts are stored. Raises SampleRefused for an unknown id or a pair twice."""
    pairs = {row.pk: row for row in Pair.objects.filter(pk__in=[line.pair for line in lines if line.pair])}
    found = [build_planted_pair(line, pairs) for line in lines]
    if len({(one.pair, one.other) for one in found}) < len(found):
        raise SampleRefused("A planted pair is there twice.")
    return found


def build_planted_pair(line: Line, pairs: Mapping[int, Pair]) -> Planted:
    if line.pair is not None and line.pair not in pairs:
        raise SampleRefused(f"There is no pair {line.pair} to plant.")
    pair = (
        pairs[line.pair]
        if line.pair is not None
        else store_planted_texts(Text.objects.keep(line.query), line.code)
    )
    other = store_planted_texts(pair.query, line.other).pk if line.other else None
    return Planted(pair.pk, line.kind, line.answer, other, line.reason)


def store_planted_texts(query: Text, code: str) -> Pair:
    return Pair.objects.keep_all([(query.pk, Text.objects.keep(code).pk)])[0]


def planted_snippets(lines: list[Line]) -> Iterator[Text]:
    """The functions of the planted pairs, stored already or not. Stores nothing."""
    by_id = Pair.objects.select_related("snippet").in_bulk([line.pair for line in lines if line.pair])
    for line in lines:
        if line.pair is not None and line.pair in by_id:
            yield by_id[line.pair].snippet
        for code in filter(None, (line.code, line.other)):
            digest = digest_of(canonicalize_text(code))
            yield Text.objects.filter(body=digest).first() or Text(body_id=digest)


def find_planted_pair_ids(lines: list[Line]) -> Iterator[int]:
    """Ids of pairs that are planted and stored already: what a draw has to leave out. Stores nothing."""
    for line in lines:
        if line.pair is not None:
            yield line.pair
            continue
        query, code = (digest_of(canonicalize_text(text)) for text in (line.query, line.code))
        yield from Pair.objects.filter(query__body=query, snippet__body=code).values_list("pk", flat=True)
