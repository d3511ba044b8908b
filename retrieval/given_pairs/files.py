"""The pairs that a file lists, by their texts or by the ids of members: JSON Lines, JSON, CSV or TSV.

A file with a row that can't be read is refused whole, as a build judges exactly what was given: whoever
wants the other rows judged says so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from django.db.models import Q

from retrieval.collections.import_report import ImportCounts, Options, note_losses
from retrieval.collections.importer import (
    BATCH,
    collections_called,
    identify_label_texts,
    import_items,
    store_said,
)
from retrieval.evaluation.publication import NothingToPublish, Order, publish_benchmark
from retrieval.given_pairs.columns import PairColumns, columns_of
from retrieval.given_pairs.member_ids import GivenPairRow, MemberColumn, Named
from retrieval.given_pairs.storage import NoPairs, store_pair_list
from retrieval.models import Annotator, Benchmark, Collection, Label, PairList, Text
from retrieval.sources import GivenLabel, Problem, Query, Snippet
from retrieval.sources.formats import table
from retrieval.texts.hostile import mark_hostile_characters
from retrieval.texts.plurals import count_noun

RULE: Final = "labels that came with the given pairs; of several of a pair the first one"
CHUNK: Final = 2**20
MOST_BAD_ROWS: Final = 100_000
"""Kept until they are shown to somebody."""
LONGEST: Final = 120


@dataclass(frozen=True)
class Wanted:
    """A file of pairs. Without collections its texts become two of this `name`, as its labels a benchmark.

    With them each row names members, by their texts or by their ids. `skip_bad`: rows that can't be read are
    left out; else they refuse the file. `called`: what the file is called where it has another name here.
    """

    path: Path
    name: str
    queries: Collection | None = None
    snippets: Collection | None = None
    skip_bad: bool = False
    called: str = ""

    @property
    def title(self) -> str:
        return mark_hostile_characters(self.called or self.path.name)[-LONGEST:]


@dataclass(frozen=True)
class Read:
    """The list of a file's pairs, the rows that were left out, and how many labels were: they say something
    else than an earlier one of their pair.
    """

    pairs: PairList
    left_out: tuple[Problem, ...] = ()
    contradicted: int = 0

    @property
    def losses(self) -> str:
        """The end of a sentence that says what was left out; empty if nothing was."""
        told = f"; {count_noun(len(self.left_out), 'row')} left out" if self.left_out else ""
        if self.contradicted:
            why = "labels left out, as an earlier one of their pair says something else"
            told += f"; {why}: {self.contradicted:,}"
        return told


def of_file(wanted: Wanted) -> Read:
    """The list of the file's pairs; one that is there already is used again. Raises NoPairs."""
    if (wanted.queries is None) != (wanted.snippets is None):
        raise NoPairs("Name a collection of queries and one of functions, or neither.")
    digest = sha256_of(wanted.path)
    same = PairList.objects.filter(digest=digest).exclude(source="")
    if wanted.queries is None or wanted.snippets is None:
        known = same.filter(source=describe_pair_source(wanted, digest)).first()
        return Read(known) if known else by_texts(wanted, digest)
    known = same.filter(queries=wanted.queries, snippets=wanted.snippets).first()
    return Read(known) if known else by_members(wanted, digest, wanted.queries, wanted.snippets)


def sha256_of(path: Path) -> str:
    """Raises NoPairs where the file can't be read."""
    whole = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while part := file.read(CHUNK):
                whole.update(part)
    except OSError as error:
        raise NoPairs(f"{path}: {error.strerror or error}.") from error
    return whole.hexdigest()


def describe_pair_source(wanted: Wanted, digest: str) -> str:
    """What is told of where the texts came from: another file of the same name is another source."""
    return f"{wanted.title}, sha256 {digest[:16]}"


def by_texts(wanted: Wanted, digest: str) -> Read:
    """The file's texts as two collections, its labels as a benchmark, its pairs as a list."""
    columns = columns_of(wanted.path)
    if not columns.has_texts:
        raise NoPairs(
            f"{wanted.title} has no columns of queries and of code; name the collections of queries and of "
            "functions that its ids are of."
        )
    left_out = check_pair_rows(wanted, lambda: table.read_table_rows(wanted.path, columns.as_table()))
    source = describe_pair_source(wanted, digest)
    refuse_taken(wanted.name, source)
    read = table.read_table_rows(wanted.path, columns.as_table())
    done = import_items(read, source, wanted.name, Options(allow_partial=wanted.skip_bad))
    if (filled := collections_called(wanted.name)) is None:
        raise NoPairs(f"{wanted.title} has no row that can be read; nothing was stored.", left_out)
    row = PairList(
        name=wanted.title,
        source=source,
        queries=filled.queries,
        snippets=filled.snippets,
        benchmark=Benchmark.objects.newest(wanted.name),
        digest=digest,
    )
    contradicted = sum(counts.contradicted for counts in done.parts)
    return Read(store_pair_list(row, texts_of(wanted.path, columns)), left_out, contradicted)


def refuse_taken(name: str, source: str) -> None:
    """Raises NoPairs where the name means other texts or labels already."""
    if Collection.objects.filter(name=name).exclude(source=source).exists():
        what = "collection"
    elif Benchmark.objects.filter(name=name).exclude(queries__source=source).exists():
        what = "benchmark"
    else:
        return
    raise NoPairs(
        f"There is a {what} called {name!r} already: choose another name, or name the collections of queries "
        "and of functions that these pairs are of."
    )


def texts_of(path: Path, columns: PairColumns) -> Iterator[tuple[int, int]]:
    """The pairs of a file's texts, which are stored, as ids."""
    whole = read_text_pairs(path, columns)
    while some := list(islice(whole, BATCH)):
        told = identify_label_texts([GivenLabel(query, snippet, 0) for query, snippet in some])
        ids = Text.objects.ids_of([digest for digest, _ in told.values()])
        yield from ((ids[told[query][0]], ids[told[snippet][0]]) for query, snippet in some)


def read_text_pairs(path: Path, columns: PairColumns) -> Iterator[tuple[str, str]]:
    """The texts of each row: the query comes first, then the snippet."""
    query = ""
    for item in table.read_table_rows(path, columns.as_table()):
        if isinstance(item, Query):
            query = item.text
        elif isinstance(item, Snippet):
            yield query, item.text


def by_members(wanted: Wanted, digest: str, queries: Collection, snippets: Collection) -> Read:
    """The file's pairs of members as a list, its labels as a benchmark."""
    columns = columns_of(wanted.path)
    if not columns.names_members:
        raise NoPairs(f"{wanted.title} has no columns of query ids and of function ids, nor of their texts.")
    rows = Named(
        wanted.path,
        MemberColumn(queries, columns.query, columns.query_id),
        MemberColumn(snippets, columns.snippet, columns.snippet_id),
        columns.label,
    ).rows
    left_out, counts = check_pair_rows(wanted, rows), ImportCounts()
    row = PairList(
        name=wanted.title,
        source=describe_pair_source(wanted, digest),
        queries=queries,
        snippets=snippets,
        benchmark=benchmark_of_pair_labels(
            wanted, digest, keep_readable_rows(rows()), note_losses(len(left_out)), counts
        ),
        digest=digest,
    )
    return Read(
        store_pair_list(
            row, ((readable_row.query, readable_row.snippet) for readable_row in keep_readable_rows(rows()))
        ),
        left_out,
        counts.contradicted,
    )


def keep_readable_rows(rows: Iterable[GivenPairRow | Problem]) -> Iterator[GivenPairRow]:
    return (row for row in rows if not isinstance(row, Problem))


def benchmark_of_pair_labels(
    wanted: Wanted, digest: str, rows: Iterator[GivenPairRow], notes: str, counts: ImportCounts
) -> Benchmark | None:
    """The benchmark of the labels that came with the pairs; None where there are none. `counts` is told of
    them. Raises NoPairs.
    """
    assert wanted.queries is not None and wanted.snippets is not None
    given = (row for row in rows if row.label is not None)
    source, by = describe_pair_source(wanted, digest), None
    while some := list(islice(given, BATCH)):
        if by is None:
            refuse_taken_benchmark(wanted.name)
            by = Annotator.objects.version(Annotator.Kind.ORIGINAL, wanted.name, {"source": source})
        labels = [GivenLabel(f"q{one.query}", f"s{one.snippet}", one.label or 0) for one in some]
        ids = {f"q{one.query}": one.query for one in some} | {f"s{one.snippet}": one.snippet for one in some}
        store_said(labels, ids, by, counts)
    if by is None:
        return None
    try:
        order = Order(wanted.name, wanted.queries, wanted.snippets, RULE, notes=notes)
        return publish_benchmark(order, Label.objects.filter(annotator=by))
    except NothingToPublish:
        return None


def refuse_taken_benchmark(name: str) -> None:
    """Raises NoPairs where the labels would become another version of somebody's benchmark."""
    if Benchmark.objects.filter(~Q(pair_lists__source__gt=""), name=name).exists():
        raise NoPairs(f"There is a benchmark called {name!r} already: choose another name.")


def check_pair_rows(wanted: Wanted, rows: Callable[[], Iterable[Any]]) -> tuple[Problem, ...]:
    """The rows that can't be read; raises NoPairs for them, unless they are to be left out."""
    problems = tuple(islice((row for row in rows() if isinstance(row, Problem)), MOST_BAD_ROWS + 1))
    if len(problems) > MOST_BAD_ROWS:
        raise NoPairs(
            f"{wanted.title}: more than {MOST_BAD_ROWS:,} rows can’t be read. See whether it is the right "
            "file; nothing was stored."
        )
    if not problems or wanted.skip_bad:
        return problems
    raise NoPairs(
        f"{wanted.title}: {count_noun(len(problems), 'row')} can’t be read. Mend the file, or leave "
        "them out; "
        "nothing was stored.",
        problems,
    )
