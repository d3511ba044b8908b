"""TREC qrels, or CodeSearchNet's annotations → labels of members that are there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from statistics import fmean

from django.db.models import QuerySet

from retrieval.collections.aliases import Named
from retrieval.collections.checkpoints import checkpoint_rarely
from retrieval.collections.import_report import ImportCounts, Imported, Options
from retrieval.collections.importer import BATCH, readable_labels, store_labels
from retrieval.collections.revisions import labels_that_came, source_annotator
from retrieval.evaluation.files import NotComparable, of_language
from retrieval.evaluation.publication import (
    Chosen,
    NothingToPublish,
    Order,
    publish_benchmark,
    publish_chosen,
)
from retrieval.filters.queries import fold_query
from retrieval.models import Alias, Benchmark, Collection, Label, Member
from retrieval.models.texts import canonicalize_text
from retrieval.sources import GivenLabel, Problem, Scale, scale_of_grades
from retrieval.sources.formats import trec
from retrieval.sources.readers.lines import Malformed
from retrieval.sources.readers.read_progress import expect_file_read
from retrieval.texts.hostile import mark_hostile_characters

ROWS_A_READ = 2000
RATING = "rating"
"""In an annotator's configuration: its labels are the first, second … ratings of their pairs."""


@dataclass(frozen=True, slots=True)
class Target:
    """The collections that judgements are about, and what the labels, and their benchmark, are called."""

    queries: Collection
    snippets: Collection
    name: str


@checkpoint_rarely()
def import_qrels(
    path: Path, of: Target, options: Options, language: str | None = None, match_from: int | None = None
) -> Imported:
    """Judgements as labels of two collections that are there, and the benchmark of the labels of this name.

    TREC qrels name members by their source ids. A relevance above 1 anywhere puts all on the scale of 0 to 3,
    one above 3 or below 0 on that of whole numbers; fractions are refused. CodeSearchNet's annotations name
    queries by their text and snippets by their link; `language` takes its rows alone, and with `match_from` a
    pair is a match where any rating is at least that, else none. A line that is no judgement refuses the file
    before anything is stored. Raises `NotComparable` for a language that the file does not have.
    """
    others = options.counts()
    done = Imported(others=others)
    try:
        rows = trec.read_qrels(path)
        if language and not rows.has_languages:
            raise NotComparable(f"{path} has no languages; leave --language out.")
        if match_from is not None and not rows.has_languages:
            raise NotComparable(f"{path} has one rating a pair; leave --match-from out.")
        if rows.has_languages:
            _annotations(path, of_language(rows, language), of, options, others)
            return done.with_benchmark(options, lambda notes: publish_ratings(of, notes, match_from))
        _judgements(path, of, options, others)
        return done.with_benchmark(options, lambda notes: benchmark_of_label_file(of, notes))
    except Malformed as malformed:
        others.read += 1
        others.refuse(Problem(str(path), malformed.line, malformed.message, costs_labels=True))
    return done


def _judgements(path: Path, of: Target, options: Options, others: ImportCounts) -> None:
    expect_file_read(path, times=2)
    # All are looked at, so that a line that is none refuses a file before anything of it is stored.
    scale = scale_of_grades(row.relevance for row in trec.read_qrels(path).rows)
    rows, read = trec.read_qrels(path).rows, trec.describe_ids(path)
    while batch := list(islice(rows, BATCH)):
        several = set[str](), set[str]()
        asked = texts_by_id(of.queries, {row.query for row in batch}, several[0])
        code = texts_by_id(of.snippets, {row.document for row in batch}, several[1])
        others.read += len(batch)
        found = _resolved(path, batch, scale, asked, code, of, several, read)
        labels = list(readable_labels(found, others, others.refuse))
        if options.dry_run:
            others.labels += len(labels)
        elif labels:
            annotator = source_annotator(of.name, {"source": path.name}, options)
            store_labels(labels, annotator, others, Named(of.queries, of.snippets))
        options.tick(others)


def benchmark_of_label_file(of: Target, notes: str) -> Benchmark | None:
    """The benchmark of the labels that were imported under this name; None where none is about members."""
    rule = "TREC qrels; of several labels the one of the last file, in one file the first"
    try:
        order = Order(of.name, of.queries, of.snippets, rule, notes=notes)
        return publish_benchmark(order, labels_that_came(of.name), by_ids=True)
    except NothingToPublish:
        return None


def _annotations(
    path: Path, rows: Iterable[trec.Judgement], of: Target, options: Options, others: ImportCounts
) -> None:
    """Several people rated some pairs: the first, second … rating of a pair is a label of its own."""
    judged = list(rows)  # 4,000 in the real file; a bad line is found before anything is stored
    asked, code = {row.query for row in judged}, {row.document for row in judged}
    others.read += len(judged)
    several = set[str](), set[str]()
    found = _resolved(
        path,
        judged,
        "whole" if scale_of_grades(row.relevance for row in judged) == "whole" else "graded",
        texts_by_text(of.queries, asked) | texts_by_id(of.queries, asked, several[0]),
        texts_by_link(of.snippets, code, several[1]) | texts_by_id(of.snippets, code, several[1]),
        of,
        several,
        "query and githuburl",
    )
    numbered: dict[int, list[GivenLabel]] = {}
    seen = Counter[tuple[str, str]]()
    for label in readable_labels(found, others, others.refuse):
        seen[label.query, label.snippet] += 1
        numbered.setdefault(seen[label.query, label.snippet], []).append(label)
    if options.dry_run:
        others.labels = seen.total()
        return
    for number, given in numbered.items():
        config = {"source": path.name, RATING: number}
        by = source_annotator(of.name, config, options)
        store_labels(given, by, others, None)  # they name texts and links
    options.tick(others)


def publish_ratings(of: Target, notes: str, match_from: int | None) -> Benchmark | None:
    """The benchmark of the ratings under this name, as means or, with `match_from`, as matches.

    None where none is about members.
    """
    ratings = labels_that_came(of.name).filter(annotator__config__has_key=RATING)
    rule = "CodeSearchNet's annotations: the mean of all ratings of a pair"
    chosen = means_of(ratings)
    if match_from is not None:
        rule = f"CodeSearchNet's annotations: a match is a pair with any rating of at least {match_from}"
        chosen = matches_of(ratings, match_from)
    try:
        return publish_chosen(Order(of.name, of.queries, of.snippets, rule, notes=notes), chosen)
    except NothingToPublish:
        return None


def means_of(labels: QuerySet[Label]) -> Iterator[Chosen]:
    """The mean of each pair's labels; a label that was the only one is named."""
    for said in ratings_by_pair(labels):
        query, snippet, pair, _, label = said[0]
        mean = fmean(row[3] for row in said)
        yield Chosen(query, snippet, pair, mean, label if len(said) == 1 else None, basis="")


def matches_of(labels: QuerySet[Label], least: int) -> Iterator[Chosen]:
    """1 for each pair with any label of at least `least`, else 0: that is no label of anybody."""
    for said in ratings_by_pair(labels):
        query, snippet, pair, _, _ = said[0]
        is_match = any(row[3] >= least for row in said)
        yield Chosen(query, snippet, pair, float(is_match), None, basis="")


def ratings_by_pair(labels: QuerySet[Label]) -> Iterator[list[tuple[int, int, int, int, int]]]:
    """Of each pair its labels as (query, snippet, pair, value, label)."""
    columns = ("pair__query_id", "pair__snippet_id", "pair_id", "value", "pk")
    rows = labels.exclude(value=None).order_by("pair_id", "pk").values_list(*columns).iterator(ROWS_A_READ)
    for _, of_pair in groupby(rows, key=lambda row: row[2]):
        yield list(of_pair)


def _resolved(
    path: Path,
    rows: Iterable[trec.Judgement],
    scale: Scale,
    asked: Mapping[str, str],
    code: Mapping[str, str],
    of: Target,
    several: tuple[Container[str], Container[str]],
    id_from: str,
) -> Iterator[GivenLabel | Problem]:
    """The judgements with their texts, by the names that stand in the file.

    `several` are names of more than one query, and of more than one snippet.
    """
    for row in rows:
        if not row.relevance.is_integer():
            message = f"relevance {row.relevance:g} is a fraction; expected a whole number"
            yield Problem(str(path), row.line, message, costs_labels=True)
        elif row.query not in asked:
            message = f"{of.queries} has no query {row.query[:40]!r}"
            yield Problem(str(path), row.line, message, costs_labels=True)
        elif row.document not in code:
            message = f"{of.snippets} has no function {row.document[:200]!r}"
            yield Problem(str(path), row.line, message, costs_labels=True)
        elif row.query in several[0] or row.document in several[1]:
            name, where = (row.query, of.queries) if row.query in several[0] else (row.document, of.snippets)
            message = f"several members of {where} are called {name[:40]!r}: which one is meant is not known"
            yield Problem(str(path), row.line, message, costs_labels=True)
        else:
            ids = row.query, row.document
            yield GivenLabel(asked[row.query], code[row.document], int(row.relevance), scale, *ids, id_from)


def texts_by_id(members: Collection, source_ids: Iterable[str], several: set[str]) -> dict[str, str]:
    """The texts of members by these ids, also further ones; an id of several texts goes into `several`."""
    wanted = list(source_ids)
    found = _texts_by(members.aliases.order_by("-number"), "source_id", wanted, several)
    own = _texts_by(members.members.order_by("-position"), "source_id", wanted, several)
    several.update(name for name, text in own.items() if found.get(name, text) != text)
    return found | own


def texts_by_link(members: Collection, links: Iterable[str], several: set[str]) -> dict[str, str]:
    """The texts of the members whose origin is one of these links; `several` as in `texts_by_id`."""
    rows = members.members.order_by("-position")
    return _texts_by(rows, "origin", (link for link in links if "://" in link), several)


def _texts_by(
    members: QuerySet[Member] | QuerySet[Alias], column: str, names: Iterable[str], several: set[str]
) -> dict[str, str]:
    wanted = sorted(
        {mark_hostile_characters(name) for name in names}
    )  # a NUL would be an error of PostgreSQL
    found: dict[str, str] = {}
    for start in range(0, len(wanted), 500):
        rows = members.filter(**{f"{column}__in": wanted[start : start + 500]}).select_related("text__body")
        for row in rows:
            name = getattr(row, column)
            if name in found:
                several.add(name)
            found[name] = row.text.text
    return found


def texts_by_text(members: Collection, texts: Iterable[str]) -> dict[str, str]:
    """By each of `texts` that of the member which is the same but for upper and lower case; the first."""
    wanted: dict[str, list[str]] = {}
    for text in set(texts):
        wanted.setdefault(_loosely(text), []).append(text)
    found: dict[str, str] = {}
    rows = members.members.order_by("position").select_related("text__body")
    for row in rows.iterator(ROWS_A_READ):
        for text in wanted.pop(_loosely(row.text.text), ()):
            found[text] = row.text.text
    return found


def _loosely(text: str) -> str:
    return fold_query(canonicalize_text(text))
