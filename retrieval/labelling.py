"""TREC qrels → labels of members that are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from retrieval.evaluation.publishing import NothingToPublish, Order, publish
from retrieval.importing import BATCH, Counts, Imported, Options, readable_labels, store_labels
from retrieval.models import Annotator, Benchmark, Collection, Label
from retrieval.sources import GivenLabel, Problem, Scale, trec
from retrieval.sources.lines import Malformed
from retrieval.sources.table import ALLOWED


def import_qrels(
    path: Path, queries: Collection, snippets: Collection, name: str, options: Options
) -> Imported:
    """TREC qrels as labels of two collections that are there: ids are the members' source ids.

    The labels under `name`, of this file and of earlier ones, become a benchmark. A relevance above 1
    anywhere puts all on the scale of 0 to 3; fractions and others are refused. A line that is no judgement
    refuses the file before anything is stored.
    """
    others = Counts()
    done = Imported(others=others)
    try:
        scale = scale_of(row.relevance for row in trec.read_qrels(path).rows)
        rows = trec.read_qrels(path).rows
        while batch := list(islice(rows, BATCH)):
            found = resolved(path, batch, scale, queries, snippets)
            others.read += len(batch)
            labels = list(readable_labels(found, others))
            if not options.dry_run:
                annotator = Annotator.objects.version(Annotator.Kind.ORIGINAL, name, {"source": path.name})
                store_labels(labels, annotator, others)
            options.tick(others)
    except Malformed as malformed:
        others.read += 1
        others.refuse(Problem(str(path), malformed.line, malformed.message))
    return replace(done, benchmark=published(name, queries, snippets)) if others.labels else done


def published(name: str, queries: Collection, snippets: Collection) -> Benchmark | None:
    """The benchmark of the labels that were imported as `name`; None where none is about the members."""
    given = Label.objects.filter(annotator__kind=Annotator.Kind.ORIGINAL, annotator__name=name)
    rule = "TREC qrels; of several labels the one of the last file, in one file the first"
    try:
        return publish(Order(name, queries, snippets, rule), given)
    except NothingToPublish:
        return None


def scale_of(relevances: Iterable[float]) -> Scale:
    return "graded" if any(relevance > 1 for relevance in relevances) else "binary"


def resolved(
    path: Path, rows: Sequence[trec.Judgement], scale: Scale, queries: Collection, snippets: Collection
) -> Iterator[GivenLabel | Problem]:
    """The judgements with their texts, by two reads of the database."""
    asked = texts_by_id(queries, {row.query for row in rows})
    code = texts_by_id(snippets, {row.document for row in rows})
    for row in rows:
        if row.relevance not in ALLOWED[scale]:
            message = f"relevance {row.relevance:g} is none of {', '.join(map(str, ALLOWED[scale]))}"
            yield Problem(str(path), row.line, message)
        elif row.query not in asked:
            yield Problem(str(path), row.line, f"{queries} has no query {row.query[:40]!r}")
        elif row.document not in code:
            yield Problem(str(path), row.line, f"{snippets} has no snippet {row.document[:40]!r}")
        else:
            yield GivenLabel(asked[row.query], code[row.document], int(row.relevance), scale)


def texts_by_id(members: Collection, source_ids: Iterable[str]) -> dict[str, str]:
    """The texts of the members with these source ids; of several with one id, the first."""
    wanted = sorted(set(source_ids))
    found: dict[str, str] = {}
    for start in range(0, len(wanted), 500):
        rows = members.members.filter(source_id__in=wanted[start : start + 500]).select_related("text__body")
        for row in rows.order_by("-position"):
            found[row.source_id] = row.text.text
    return found
