"""Records of a source → members of a collection: idempotent, in batches, with counts of everything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone

from retrieval.collections.aliases import (
    Named,
    add_aliases,
    keep_label_ids,
    labels_there,
    pairs_with_aliases,
    stored_id,
)
from retrieval.collections.checkpoints import checkpoint_rarely
from retrieval.collections.import_report import ImportCounts, Imported, Options
from retrieval.collections.revisions import (
    Identified,
    find_or_make_collection,
    refuse_other_texts,
    source_annotator,
)
from retrieval.filters import Rule, find_passed_rules
from retrieval.licences import shorten_licence
from retrieval.models import (
    Annotator,
    Benchmark,
    Collection,
    Label,
    Member,
    Pair,
    QueryText,
    Text,
    statements,
)
from retrieval.models.blobs import digest_of
from retrieval.models.texts import HEAD, canonicalize_text, fold_for_search
from retrieval.sources import GivenLabel, Item, Problem, Query, Record, Snippet
from retrieval.sources.code import python_source
from retrieval.sources.code.git import without_secret
from retrieval.sources.code.places import expect_archives
from retrieval.sources.formats import cosqa
from retrieval.sources.readers.read_progress import expect_file_read, finish_file_count
from retrieval.texts.hostile import mark_hostile_characters

BATCH = 1000
LICENCE_LENGTH: Final = 120
MEMBER_COLUMNS: Final = (
    "collection",
    "text",
    "position",
    "source_id",
    "origin",
    "licence",
    "rules",
    "partition",
)
LABEL_COLUMNS: Final = ("pair", "annotator", "round", "value", "scale", "assisted", "source", "created_at")


class Missing(NamedTuple):
    """What a collection lacks of a batch: records with the rules that each passes, and ids (id, text)."""

    new: list[Identified]
    flags: list[Rule]
    ids: list[tuple[str, int]]


def collections_called(name: str) -> Named | None:
    """The newest queries and snippets of this name; None where one is missing."""
    found = [
        Collection.objects.filter(name=name, kind=kind).order_by("-version").first()
        for kind in Collection.Kind.values
    ]
    return Named(found[0], found[1]) if found[0] and found[1] else None


def store_members(
    target: Collection | None,
    records: Iterable[Record | Problem],
    kind: str,
    counts: ImportCounts,
    options: Options,
) -> None:
    """Add the records that `target` lacks, in batches; a batch is stored whole or not at all.

    `target` may be None in a dry run only. Snippets get the flags of the rules that they pass.
    """
    for batch in batch_records(keep_readable_records(records, counts)):
        missing = find_missing_records(target, batch, kind, counts)
        if target is not None and (missing.new or missing.ids) and not options.dry_run:
            with transaction.atomic():
                add_import_batch(target, missing, counts)
        options.tick(counts)


def find_missing_records(
    target: Collection | None, batch: list[Identified], kind: str, counts: ImportCounts
) -> Missing:
    """What `target` lacks of a batch; all of its records where there is no target."""
    if kind == Collection.Kind.QUERIES:
        for one in batch:
            counts.note_query(one.text)
    new, ids = batch, list[tuple[str, int]]()
    if target is not None:
        new, ids = without_known(target, refuse_other_texts(target, batch, counts), counts)
    return Missing(new, [flags_of(one.text, kind, counts) for one in new], ids)


def without_known(
    target: Collection, batch: list[Identified], counts: ImportCounts
) -> tuple[list[Identified], list[tuple[str, int]]]:
    """The records that `target` lacks, and the other ids that known ones have; these are counted by the rules
    that are stored with them.
    """
    texts = Text.objects.ids_of([one.digest for one in batch])
    there = {
        text: (rules, source_id)
        for text, rules, source_id in members_among(target, texts.values(), ("text", "rules", "source_id"))
    }
    new, ids = list[Identified](), list[tuple[str, int]]()
    for identified in batch:
        text = texts.get(identified.digest)
        if text is None or text not in there:
            new.append(identified)
            continue
        passed, own = Rule(there[text][0]), there[text][1]
        if identified.record.has_id and stored_id(identified.record.source_id) != own:
            ids.append((stored_id(identified.record.source_id), text))
        counts.known += 1
        # No rule may mean code that does not parse: only parsing tells, and it is rare.
        if passed:
            counts.count_rules(passed, hash(identified.text))
        else:
            flags_of(identified.text, target.kind, counts)
    return new, ids


def keep_readable_records(records: Iterable[Record | Problem], counts: ImportCounts) -> Iterator[Record]:
    """The readable records; the others are counted and kept as problems."""
    for record in records:
        counts.read += 1
        if isinstance(record, Problem):
            counts.refuse(record)
        else:
            counts.ids[record.id_from] += 1
            yield record


def readable_labels(
    labels: Iterable[GivenLabel | Problem], counts: ImportCounts, refuse: Callable[[Problem], None]
) -> Iterator[GivenLabel]:
    """The readable labels; the others are refused. It is counted what their ids were read from."""
    for label in labels:
        if isinstance(label, Problem):
            refuse(label)
        else:
            counts.ids[label.id_from] += 1
            yield label


def batch_records(records: Iterator[Record]) -> Iterator[list[Identified]]:
    while batch := [identify_record(record) for record in islice(records, BATCH)]:
        yield batch


def identify_record(record: Record) -> Identified:
    text = canonicalize_text(record.text)
    return Identified(record, text, digest_of(text))


def flags_of(text: str, kind: str, counts: ImportCounts) -> Rule:
    """The rules that a snippet passes; a query passes none, and code that does not parse passes none."""
    if kind == Collection.Kind.QUERIES:
        return Rule(0)
    passed = find_passed_rules(text)
    counts.count_rules(passed, hash(text))
    return passed or Rule(0)


def add_import_batch(target: Collection, missing: Missing, counts: ImportCounts) -> None:
    """Store one batch: texts, then the members whose text the collection lacks, in the batch's order, and the
    ids of those that are there by another one.
    """
    # Another import into the same collection waits here: both would number their members alike.
    Collection.objects.select_for_update().get(pk=target.pk)
    ids = Text.objects.keep_ids({identified.digest: identified.text for identified in missing.new})
    there = {text for (text,) in members_among(target, ids.values())}
    new, named = list[tuple[Identified, int, Rule]](), list(missing.ids)
    for identified, rules in zip(missing.new, missing.flags, strict=True):
        text = ids[identified.digest]
        if text in there:
            counts.known += 1
            if identified.record.has_id:
                named.append((stored_id(identified.record.source_id), text))
        else:
            there.add(text)
            new.append((identified, text, rules))
    add_members(target, new)
    add_aliases(target, named, counts)
    counts.stored += len(new)


def members_among(
    target: Collection, texts: Iterable[int], columns: Sequence[str] = ("text",)
) -> list[tuple[Any, ...]]:
    """Columns of the collection's members whose texts have these ids."""
    return statements.look_among(Member, columns, "text", list(texts), {"collection": target.pk})


def add_members(target: Collection, new: Sequence[tuple[Identified, int, Rule]]) -> None:
    """Store new members after the last one: records, the ids of their texts, and the rules that they pass."""
    last: int | None = target.members.aggregate(last=Max("position"))["last"]
    rows = [
        (
            target.pk,
            text,
            position,
            stored_id(one.record.source_id),
            mark_hostile_characters(one.record.origin)[:400],
            shorten_licence(mark_hostile_characters(one.record.licence), LICENCE_LENGTH),
            int(rules),
            one.record.partition,
        )
        for position, (one, text, rules) in enumerate(new, 0 if last is None else last + 1)
    ]
    statements.insert_all(Member, MEMBER_COLUMNS, rows)
    if target.kind == Collection.Kind.QUERIES:
        heads = [(text, fold_for_search(one.text[:HEAD])) for one, text, _ in new]
        statements.insert_all(QueryText, ("text", "folded"), heads, unless_there=True)
    Collection.objects.filter(pk=target.pk).update(size=F("size") + len(rows))


def store_labels(
    labels: Iterable[GivenLabel],
    annotator: Annotator,
    counts: ImportCounts,
    named: Named | None,
    tick: Callable[[ImportCounts], None] = lambda counts: None,
) -> None:
    """Keep the labels that came with the data; known ones stay, and of several of a pair the first counts.

    `named` are the collections whose ids they use; `tick` is called after each batch.
    """
    iterator = iter(labels)
    while batch := list(islice(iterator, BATCH)):
        with transaction.atomic():
            told = identify_label_texts(batch)
            ids = Text.objects.keep_ids(dict(told.values()))
            texts = {text: ids[digest] for text, (digest, _) in told.items()}
            store_said(batch, texts, annotator, counts, named)
        tick(counts)


def store_said(
    batch: Sequence[GivenLabel],
    texts: Mapping[str, int],
    annotator: Annotator,
    counts: ImportCounts,
    named: Named | None = None,
) -> None:
    """Keep labels whose texts are stored: `texts` are their ids."""
    keys = [(texts[given.query], texts[given.snippet]) for given in batch]
    pairs = Pair.objects.keep_ids(keys)
    several = pairs_with_aliases(pairs, named) if named else {}
    before = labels_there(annotator.pk, several.values()) if several else {}
    said = [(pairs[key], given.value) for key, given in zip(keys, batch, strict=True)]
    first = first_values(pairs.values(), annotator)
    counts.known_labels += sum(pair in first for pair, _ in said)
    alone = [one for key, one in zip(keys, said, strict=True) if key not in several]
    counts.contradicted += sum(first.setdefault(pair, value) != value for pair, value in alone)
    now = timezone.now()
    rows = [
        (pair, annotator.pk, 1, value, given.scale, False, annotator.name, now)
        for (pair, value), given in zip(said, batch, strict=True)
    ]
    statements.insert_all(Label, LABEL_COLUMNS, rows, unless_there=True)
    if several and named:
        by_ids = list(zip(keys, batch, strict=True))
        keep_label_ids(by_ids, several, annotator.pk, named, before, counts)
    counts.labels += len(batch)


def identify_label_texts(labels: Sequence[GivenLabel]) -> dict[str, tuple[str, str]]:
    """By the texts of labels, as their source has them: hash and canonical text."""
    texts = dict.fromkeys([*(given.query for given in labels), *(given.snippet for given in labels)])
    kept = ((text, canonicalize_text(text)) for text in texts)
    return {text: (digest_of(identity), identity) for text, identity in kept}


def first_values(pairs: Iterable[int], annotator: Annotator) -> dict[int, int | None]:
    """By pair what the annotator said of it, where there is a label."""
    known = Label.objects.filter(annotator=annotator, round=1, pair__in=list(pairs))
    return dict(known.values_list("pair_id", "value"))


@checkpoint_rarely()
def import_cosqa(file: Path, codebase: Path | None, name: str, options: Options) -> Imported:
    """A CoSQA file of queries or pairs, its code base, its labels and their benchmark.

    Without a code base the snippets are the code of the pairs; with one, pairs of other code are refused.
    """
    done = Imported(queries := options.counts(), snippets := options.counts(), others := options.counts())
    told = replace(options, tick=lambda _: options.tick(done.total()))
    known = cosqa.TextsById()
    for path in (file, codebase or file, file):
        expect_file_read(path)
    asked = cosqa.read_queries(file, known=known)
    import_records(name, Collection.Kind.QUERIES, str(file.name), asked, queries, told)
    if known.has_labels:
        known.homes[cosqa.CODE_ID] = codebase
    read = cosqa.read_snippets if codebase else cosqa.read_code_of_pairs
    code = read(codebase or file, known=known)
    import_records(name, Collection.Kind.SNIPPETS, (codebase or file).name, code, snippets, told)
    if known.has_labels:
        _label_cosqa(cosqa.read_labels(file, known), file, name, others, told)
    else:
        finish_file_count(file)
    told.tick(others)  # what follows the last label was read as well
    stored = Imported(
        queries,
        snippets if codebase or snippets.read else None,
        others if others.read + others.labels else None,
    )
    return stored.with_benchmark(options, lambda notes: benchmark_of_import(name, notes))


def _label_cosqa(
    labels: Iterable[GivenLabel | Problem], file: Path, name: str, others: ImportCounts, options: Options
) -> None:
    """Store the labels of a file; in a dry run count them."""
    given = readable_labels(labels, others, others.refuse_unread)
    if options.dry_run:
        others.labels = sum(1 for _ in given)
        return
    first = next(given, None)
    if first is None:
        return
    annotator = source_annotator(name, {"source": file.name}, options)
    store_labels(chain([first], given), annotator, others, collections_called(name), options.tick)


@checkpoint_rarely()
def import_python(places: Sequence[Path | str], name: str, options: Options) -> Imported:
    """Functions out of source files, folders, wheels, zips, or the word "stdlib"."""
    counts = options.counts()
    expect_archives(places)
    told = ", ".join(without_secret(str(place)) for place in places)
    for place in places:
        import_records(
            name, Collection.Kind.SNIPPETS, told, python_source.read_python_functions(place), counts, options
        )
    return Imported(snippets=counts)


@checkpoint_rarely()
def import_items(items: Iterable[Item], source: str, name: str, options: Options) -> Imported:
    """A source of queries, snippets and labels, read once, in batches of which each is stored whole.

    The labels become a benchmark.
    Importing it again after it was cut off goes on where it stood: what is there is known.
    """
    done = Imported(options.counts(), options.counts(), options.counts())
    told = replace(options, tick=lambda _: options.tick(done.total()))
    iterator = iter(items)
    while batch := list(islice(iterator, BATCH)):
        _store_batch(batch, source, name, done, told)
    queries, snippets, others = (counts if counts.read + counts.labels else None for counts in done.parts)
    stored = Imported(queries, snippets, others)
    return stored.with_benchmark(options, lambda notes: benchmark_of_import(name, notes))


def benchmark_of_import(name: str, notes: str) -> Benchmark | None:
    """The benchmark of the labels that came with the data, which most imports do without."""
    from retrieval.evaluation.publication import publish_import  # loads NumPy

    return publish_import(name, notes)


def _store_batch(batch: list[Item], source: str, name: str, done: Imported, options: Options) -> None:
    queries, snippets, others = done.parts
    for problem in (item for item in batch if isinstance(item, Problem)):
        others.refuse_unread(problem)
    parts = list[_Part]()
    for kind, which, counts in zip(Collection.Kind, (Query, Snippet), (queries, snippets), strict=True):
        if records := [item for item in batch if isinstance(item, which)]:
            target = None if options.dry_run else find_or_make_collection(name, kind, source, options)
            found = list(map(identify_record, keep_readable_records(records, counts)))
            parts.append(_Part(target, find_missing_records(target, found, kind, counts), counts))
    labels = [item for item in batch if isinstance(item, GivenLabel)]
    others.ids.update(label.id_from for label in labels)
    if options.dry_run:
        others.labels += len(labels)
    else:
        by = source_annotator(name, {"source": source}, options) if labels else None
        _store_whole(parts, labels, by, others, collections_called(name) if labels else None)
    options.tick(done.total())


class _Part(NamedTuple):
    """What a collection lacks of a batch; no collection in a dry run."""

    target: Collection | None
    missing: Missing
    counts: ImportCounts


@transaction.atomic
def _store_whole(
    parts: Sequence[_Part],
    labels: Sequence[GivenLabel],
    by: Annotator | None,
    others: ImportCounts,
    named: Named | None,
) -> None:
    """Store a batch of queries, snippets and labels: all of it, or where anything fails nothing.

    Collections are locked first, then all texts are stored in the order of their hashes: two imports that
    have some in common never wait for each other.
    """
    targets = [part.target.pk for part in parts if part.target]
    list(Collection.objects.select_for_update().filter(pk__in=targets).order_by("pk"))
    told, new = (
        identify_label_texts(labels),
        {identified.digest: identified.text for part in parts for identified in part.missing.new},
    )
    ids = Text.objects.keep_ids(new | dict(told.values()))
    for part in parts:
        if part.target and (part.missing.new or part.missing.ids):
            add_import_batch(part.target, part.missing, part.counts)
    if by is not None:
        texts = {text: ids[digest] for text, (digest, _) in told.items()}
        store_said(labels, texts, by, others, named)


def import_records(
    name: str,
    kind: str,
    source: str,
    records: Iterable[Record | Problem],
    counts: ImportCounts,
    options: Options,
) -> None:
    """Add `records` to the collection called `name`, made where it is missing; in a dry run only count."""
    target = None if options.dry_run else find_or_make_collection(name, kind, source, options)
    store_members(target, records, kind, counts, options)
    if target is not None and not counts.stored + counts.known:
        Collection.objects.filter(pk=target.pk, size=0, members=None).delete()  # nobody misses an empty one
