"""Records of a source → members of a collection: idempotent, in batches, with counts of everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from django.db import transaction
from django.db.models import F, Max

from retrieval.evaluation.publishing import publish_import
from retrieval.filters import Rule, Unreadable, rules_of
from retrieval.models import Annotator, Benchmark, Collection, Label, Member, Pair, QueryText, Text
from retrieval.models.blobs import digest_of
from retrieval.models.texts import canonical
from retrieval.sources import (
    GivenLabel,
    Item,
    Problem,
    Query,
    Record,
    Snippet,
    cosqa,
    python_source,
)

BATCH = 1000
PROBLEMS_KEPT = 1000
_BITS = tuple((rule, int(rule)) for rule in Rule)


@dataclass
class Counts:
    """What an import did. `unreadable` counts records and code that could not be read; see `problems`.

    `contradicted` counts labels that say something else than an earlier one of their pair in this source.
    """

    read: int = 0
    stored: int = 0
    known: int = 0
    unreadable: int = 0
    unparsable: int = 0
    labels: int = 0
    contradicted: int = 0
    rules: Counter[Rule] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)

    def refuse(self, problem: Problem) -> None:
        self.unreadable += 1
        if len(self.problems) < PROBLEMS_KEPT:
            self.problems.append(problem)

    def count_parsed(self, passed: Rule | None) -> None:
        """Count what rules a snippet passes; None: it does not parse."""
        if passed is None:
            self.unparsable += 1
        else:
            self.count_rules(passed)

    def count_rules(self, passed: Rule) -> None:
        bits = int(passed)
        for rule, bit in _BITS:
            self.rules[rule] += bits & bit != 0


@dataclass(frozen=True)
class Options:
    """`dry_run` counts and stores nothing; `tick` is called with the counts after each batch."""

    dry_run: bool = False
    tick: Callable[[Counts], None] = lambda counts: None


def collection(name: str, kind: str, source: str) -> Collection:
    """The newest version of the collection of this name and kind; made when there is none."""
    found = Collection.objects.filter(name=name, kind=kind).order_by("-version").first()
    return found or Collection.objects.create(name=name, kind=kind, source=source[:400])


def store_members(
    target: Collection | None,
    records: Iterable[Record | Problem],
    kind: str,
    counts: Counts,
    options: Options,
) -> None:
    """Add the records that `target` lacks, in batches; a batch is stored whole or not at all.

    `target` may be None in a dry run only. Snippets get the flags of the rules that they pass.
    """
    for batch in batches(good(records, counts)):
        new = batch if target is None else without_known(target, batch, counts)
        flags = [flags_of(record, kind, counts) for record in new]
        if target is not None and new and not options.dry_run:
            with transaction.atomic():
                add(target, new, flags, counts)
        options.tick(counts)


def without_known(target: Collection, batch: list[Record], counts: Counts) -> list[Record]:
    """The records that `target` lacks; the others are counted by the rules that are stored with them."""
    digests = [digest_of(canonical(record.text)) for record in batch]
    there: dict[str, Rule] = {}
    for start in range(0, len(digests), 500):
        rows = Member.objects.filter(collection=target, text__body__in=digests[start : start + 500])
        there |= {digest: Rule(rules) for digest, rules in rows.values_list("text__body", "rules")}
    new: list[Record] = []
    for record, digest in zip(batch, digests, strict=True):
        passed = there.get(digest)
        if passed is None:
            new.append(record)
            continue
        counts.known += 1
        # No rule may mean code that does not parse: only parsing tells, and it is rare.
        flags_of(record, target.kind, counts) if not passed else counts.count_rules(passed)
    return new


def good(records: Iterable[Record | Problem], counts: Counts) -> Iterator[Record]:
    """The readable records; the others are counted and kept as problems."""
    for record in records:
        counts.read += 1
        if isinstance(record, Problem):
            counts.refuse(record)
        else:
            yield record


def readable_labels(labels: Iterable[GivenLabel | Problem], counts: Counts) -> Iterator[GivenLabel]:
    """The readable labels; the others are counted and kept as problems."""
    for label in labels:
        if isinstance(label, Problem):
            counts.refuse(label)
        else:
            yield label


def batches(records: Iterator[Record]) -> Iterator[list[Record]]:
    while batch := list(islice(records, BATCH)):
        yield batch


def flags_of(record: Record, kind: str, counts: Counts) -> Rule:
    """The rules that a snippet passes; a query passes none, and code that does not parse passes none."""
    if kind == Collection.Kind.QUERIES:
        return Rule(0)
    try:
        passed = rules_of(record.text)
    except Unreadable:
        counts.unparsable += 1
        return Rule(0)
    counts.count_rules(passed)
    return passed


def add(target: Collection, batch: Sequence[Record], flags: Sequence[Rule], counts: Counts) -> None:
    """Store one batch: texts, then the members whose text the collection lacks, in the batch's order."""
    # Another import into the same collection waits here: both would number their members alike.
    Collection.objects.select_for_update().get(pk=target.pk)
    texts = Text.objects.keep_all([record.text for record in batch])
    there = set(Member.objects.filter(collection=target, text__in=texts).values_list("text_id", flat=True))
    last: int | None = target.members.aggregate(last=Max("position"))["last"]
    rows: list[Member] = []
    for record, text, rules in zip(batch, texts, flags, strict=True):
        if text.pk in there:
            counts.known += 1
            continue
        there.add(text.pk)
        rows.append(member(target, record, text, rules, (-1 if last is None else last) + 1 + len(rows)))
    Member.objects.bulk_create(rows, batch_size=500)
    if target.kind == Collection.Kind.QUERIES:
        QueryText.objects.keep_all(row.text for row in rows)
    Collection.objects.filter(pk=target.pk).update(size=F("size") + len(rows))
    counts.stored += len(rows)


def member(target: Collection, record: Record, text: Text, rules: Rule, position: int) -> Member:
    return Member(
        collection=target,
        text=text,
        position=position,
        source_id=record.source_id[:300],
        origin=record.origin[:400],
        licence=record.licence[:120],
        rules=int(rules),
    )


def store_labels(labels: Iterable[GivenLabel], annotator: Annotator, counts: Counts) -> None:
    """Keep the labels that came with the data; known ones stay, and of several of a pair the first counts."""
    iterator = iter(labels)
    while batch := list(islice(iterator, BATCH)):
        with transaction.atomic():
            queries = Text.objects.keep_all([label.query for label in batch])
            snippets = Text.objects.keep_all([label.snippet for label in batch])
            pairs = Pair.objects.keep_all([(q.pk, s.pk) for q, s in zip(queries, snippets, strict=True)])
            source = annotator.name
            rows = [
                Label(pair=pair, annotator=annotator, value=given.value, scale=given.scale, source=source)
                for pair, given in zip(pairs, batch, strict=True)
            ]
            counts.contradicted += contradicted(rows, annotator)
            Label.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)
        counts.labels += len(batch)


def contradicted(rows: Sequence[Label], annotator: Annotator) -> int:
    """How many of these labels say something else than the first of their pair by the same annotator."""
    known = Label.objects.filter(annotator=annotator, round=1, pair__in={row.pair_id for row in rows})
    first = dict(known.values_list("pair_id", "value"))
    return sum(first.setdefault(row.pair_id, row.value) != row.value for row in rows)


@dataclass(frozen=True)
class Imported:
    """The counts of each collection that an import filled, and the benchmark of its labels.

    `others` counts what is neither a query nor a snippet: labels, and what a source of both refused.
    """

    queries: Counts | None = None
    snippets: Counts | None = None
    others: Counts | None = None
    benchmark: Benchmark | None = None

    @property
    def parts(self) -> list[Counts]:
        return [counts for counts in (self.queries, self.snippets, self.others) if counts]

    @property
    def problems(self) -> list[Problem]:
        return [problem for counts in self.parts for problem in counts.problems]

    def total(self) -> Counts:
        """The figures of all parts together, for a bar of progress."""
        total = Counts()
        for name in ("read", "stored", "known", "unreadable", "labels"):
            setattr(total, name, sum(getattr(counts, name) for counts in self.parts))
        return total


def import_cosqa(file: Path, codebase: Path | None, name: str, options: Options) -> Imported:
    """A CoSQA file of queries or pairs, its code base, its labels and their benchmark."""
    queries, snippets = Counts(), Counts()
    benchmark: Benchmark | None = None
    fill(name, Collection.Kind.QUERIES, str(file.name), cosqa.read_queries(file), queries, options)
    if codebase is not None:
        records = cosqa.read_snippets(codebase)
        fill(name, Collection.Kind.SNIPPETS, str(codebase.name), records, snippets, options)
    if not options.dry_run:
        annotator = Annotator.objects.version(Annotator.Kind.ORIGINAL, name, {"source": file.name})
        store_labels(readable_labels(cosqa.read_labels(file), queries), annotator, queries)
        benchmark = publish_import(name) if queries.labels else None
    return Imported(queries, snippets if codebase else None, benchmark=benchmark)


def import_python(places: Sequence[Path | str], name: str, options: Options) -> Imported:
    """Functions out of source files, folders, wheels, zips, or the word "stdlib"."""
    counts = Counts()
    for place in places:
        records = python_source.read(place)
        fill(name, Collection.Kind.SNIPPETS, ", ".join(map(str, places)), records, counts, options)
    return Imported(snippets=counts)


def import_items(items: Iterable[Item], source: str, name: str, options: Options) -> Imported:
    """A source of queries, snippets and labels, read once, in batches of which each is stored whole.

    The labels become a benchmark.
    Importing it again after it was cut off goes on where it stood: what is there is known.
    """
    done = Imported(Counts(), Counts(), Counts())
    told = replace(options, tick=lambda _: options.tick(done.total()))
    iterator = iter(items)
    while batch := list(islice(iterator, BATCH)):
        _store_batch(batch, source, name, done, told)
    queries, snippets, others = (counts if counts.read + counts.labels else None for counts in done.parts)
    labelled = others is not None and others.labels and not options.dry_run
    return Imported(queries, snippets, others, publish_import(name) if labelled else None)


def _store_batch(batch: list[Item], source: str, name: str, done: Imported, options: Options) -> None:
    queries, snippets, others = done.parts
    for problem in (item for item in batch if isinstance(item, Problem)):
        others.read += 1
        others.refuse(problem)
    asked = [item for item in batch if isinstance(item, Query)]
    if asked:
        fill(name, Collection.Kind.QUERIES, source, asked, queries, options)
    code = [item for item in batch if isinstance(item, Snippet)]
    if code:
        fill(name, Collection.Kind.SNIPPETS, source, code, snippets, options)
    labels = [item for item in batch if isinstance(item, GivenLabel)]
    if labels and not options.dry_run:
        annotator = Annotator.objects.version(Annotator.Kind.ORIGINAL, name, {"source": source})
        store_labels(labels, annotator, others)
    options.tick(done.total())


def fill(
    name: str,
    kind: str,
    source: str,
    records: Iterable[Record | Problem],
    counts: Counts,
    options: Options,
) -> None:
    """Add `records` to the collection called `name`, made where it is missing; in a dry run only count."""
    target = None if options.dry_run else collection(name, kind, source)
    store_members(target, records, kind, counts, options)
    if target is not None and not counts.stored + counts.known:
        Collection.objects.filter(pk=target.pk, size=0, members=None).delete()  # nobody misses an empty one
