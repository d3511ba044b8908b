"""Runs as files of others: TREC's, CodeSearchNet's predictions, Neural Code Search's score sheet.

TREC runs call queries and snippets as `export qrels` does, so that trec_eval takes both. Predictions name
texts and links, as CodeSearchNet's form of submission does. All three are read back by `evaluate` or
`ncs-report`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, TypeAlias

from retrieval.corpus.languages import UNKNOWN, language_expression
from retrieval.evaluation.content import Content, content_of, query_members, snippet_members
from retrieval.evaluation.export_ids import OF_QUERIES, OF_SNIPPETS, numbers_of
from retrieval.models import Benchmark, Run
from retrieval.models.benchmarks import NOWHERE, Places
from retrieval.sources.code.aroma import THRESHOLD, measure_similarity

ROWS_A_READ: Final = 2000
MOST_COMPARED: Final = 100
"""Results of a list that are compared with an answer."""
IsMatch: TypeAlias = Callable[[int, int, int], bool]
"""Of a query's number, a result's place and its rank."""
PREDICTION_COLUMNS: Final = ("language", "query", "identifier", "url")
NOT_FOUND: Final = "NF"
BLANKS: Final = re.compile(r"\s+")


class NotWritable(ValueError):
    """A run can't be written in this format; the message says why."""


def write_trec_run(run: Run) -> Iterator[str]:
    """Yield `q0 Q0 d0 rank score tag`; the score is 1 / rank.

    A result that the benchmark lacks keeps its rank.
    """
    content = content_of(run.benchmark)
    queries, snippets = _names_of_export(run.benchmark)
    tag = BLANKS.sub("_", run.title)
    for number, _, places in _lists_in_order(run, content):
        for rank, place in enumerate(places.tolist(), 1):
            document = f"unknown-{rank}" if place == NOWHERE else snippets[place]
            yield f"{queries[number]} Q0 {document} {rank} {1 / rank:.9f} {tag}\n"


def write_predictions(run: Run) -> Iterator[str]:
    """Yield CodeSearchNet's form of submission: language, query, identifier and link, best result first.

    Raises `NotWritable` where a result has no origin: the form knows functions by their links alone.
    """
    content = content_of(run.benchmark)
    rows = query_members(run.benchmark).select_related("text__body")
    texts = {row.text_id: row.text.text for row in rows.iterator(ROWS_A_READ)}
    functions = _functions_of(run.benchmark)
    yield _csv_line(PREDICTION_COLUMNS)
    for number, _, places in _lists_in_order(run, content):
        for place in places[places != NOWHERE].tolist():
            language, name, link = functions[content.texts_place(place)]
            if not link:
                raise NotWritable(
                    f"{name!r} has no link, and predictions know functions by their links alone: take trec."
                )
            yield _csv_line((language, texts[content.query_texts[number]], name, link))


def write_score_sheet(runs: Sequence[Run], answers: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield Neural Code Search's score sheet: a row a query, the rank of its first match by each system.

    NF where no match is among the results. All runs are of one benchmark. With `answers`, code in Java by the
    source ids of queries, a result is a match if it is as similar to the answer as that data set asks, and
    the first MOST_COMPARED results count.
    """
    if not runs:
        raise NotWritable("There is no run.")
    content = content_of(runs[0].benchmark)
    names = [*query_members(runs[0].benchmark).values_list("source_id", flat=True)]
    names += [f"alias {number}" for number in range(1, len(content.queries) - len(names) + 1)]
    is_match = _by_answers(content, names, answers) if answers is not None else _by_labels(content)
    ranks = [_first_ranks(run, content, is_match) for run in runs]
    yield _csv_line(("No.", "Query ID", *(f"{BLANKS.sub(' ', run.title)} FRank" for run in runs)))
    for number, (name, query) in enumerate(zip(names, content.queries, strict=True), 1):
        found = (each.get(query) for each in ranks)
        yield _csv_line((number, name, *(NOT_FOUND if rank is None else rank for rank in found)))


def _first_ranks(run: Run, content: Content, is_match: IsMatch) -> Mapping[int, int | None]:
    """By query the rank of its first match."""
    return {
        query: next((rank for rank, at in enumerate(places.tolist(), 1) if is_match(number, at, rank)), None)
        for number, query, places in _lists_in_order(run, content)
    }


def _by_labels(content: Content) -> IsMatch:
    """Whether a query's label says that a result is a match."""
    return lambda number, place, rank: content.judged(content.queries[number]).get(place, 0) > 0


def _by_answers(content: Content, names: Sequence[str], answers: Mapping[str, str]) -> IsMatch:
    """Whether a result is as similar to the query's answer as Neural Code Search asks."""
    if not any(name in answers for name in names):
        raise NotWritable("No query has an answer: the answers' ids must be the source ids of the queries.")
    members = {row.position: row for row in snippet_members(content.benchmark).select_related("text__body")}

    def is_match(number: int, place: int, rank: int) -> bool:
        answer = answers.get(names[number], "")
        if not answer or place == NOWHERE or rank > MOST_COMPARED:
            return False
        code = members[content.texts_place(place)].text.text
        return measure_similarity(code, answer, "java") >= THRESHOLD

    return is_match


def _lists_in_order(run: Run, content: Content) -> Iterator[tuple[int, int, Places]]:
    """Yield (number, key, places of results) of each query that has a list, in the benchmark's order."""
    lists = {found.key: found.places for found in run.lists.iterator(ROWS_A_READ)}
    for number, query in enumerate(content.queries):
        if query in lists:
            yield number, query, lists[query]


def _names_of_export(benchmark: Benchmark) -> tuple[list[str], list[str]]:
    """How `export qrels` calls queries and snippets, members first, then their further ids."""
    named = []
    for members, collection, aliases, letter in (
        (query_members(benchmark), benchmark.queries, benchmark.query_aliases, OF_QUERIES),
        (snippet_members(benchmark), benchmark.snippets, benchmark.snippet_aliases, OF_SNIPPETS),
    ):
        further = collection.aliases.filter(number__lte=aliases).order_by("number")
        ids: Iterable[str] = chain(
            members.values_list("source_id", flat=True).iterator(ROWS_A_READ),
            further.values_list("source_id", flat=True).iterator(ROWS_A_READ),
        )
        named.append([f"{letter}{number}" for number in numbers_of(ids, letter)])
    return named[0], named[1]


def _functions_of(benchmark: Benchmark) -> list[tuple[str, str, str]]:
    """Language in lower case, identifier and link of each snippet, by its place."""
    rows = snippet_members(benchmark).annotate(written_in=language_expression())
    return [
        ("" if language == UNKNOWN else language.lower(), name.rpartition("::")[2], origin)
        for language, name, origin in rows.values_list("written_in", "source_id", "origin").iterator(
            ROWS_A_READ
        )
    ]


def _csv_line(fields: Iterable[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(fields)
    return line.getvalue()
