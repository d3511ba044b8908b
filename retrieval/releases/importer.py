"""A release folder → collections, labels and a benchmark, by the hundred thousand pairs.

The same folder gives the same benchmark: with `workbench.json` and `provenance/`, which `export release`
writes, also origins, licences, who gave each label, and the candidates that are searched. Without them it is
any release of CoSQA+. Importing again changes nothing, and goes on where it was cut off.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from django.db import transaction
from django.utils import timezone

from retrieval.collections.aliases import (
    Named,
    add_aliases,
    keep_label_ids,
    labels_there,
    own_ids,
    pairs_with_aliases,
    stored_id,
)
from retrieval.collections.checkpoints import checkpoint_rarely
from retrieval.collections.import_report import ImportCounts, Imported, Options
from retrieval.collections.importer import flags_of
from retrieval.collections.revisions import find_or_make_collection, labels_that_came, source_annotator
from retrieval.evaluation.publication import Chosen, NothingToPublish, Order, last_of, publish_chosen
from retrieval.exporting import provenance
from retrieval.exporting.files import MANIFEST
from retrieval.filters import Rule
from retrieval.filters.apart import Apart
from retrieval.models import (
    Benchmark,
    Collection,
    Label,
    Mining,
    Pair,
    Pool,
    Source,
    statements,
)
from retrieval.models.labels import BASES
from retrieval.models.texts import canonicalize_text
from retrieval.releases.beside import Beside, SideRow
from retrieval.releases.candidates import Candidates, is_finite
from retrieval.releases.manifest import MAIN_FILES, Manifest, manifest_of
from retrieval.releases.side_files import SideFiles
from retrieval.releases.storage import Members, store_release_batch
from retrieval.sources import LARGEST_GRADE, GivenLabel, Problem, Record, scale_of_grades
from retrieval.sources.formats import cosqa
from retrieval.sources.formats.cosqa_plus import LICENCE, Release, release_in
from retrieval.sources.readers.compression import PACKED
from retrieval.sources.readers.json_stream import stream_json_elements
from retrieval.sources.readers.lines import clip_text
from retrieval.sources.readers.read_progress import expect_file_read
from retrieval.texts.hostile import mark_hostile_characters
from retrieval.threads import prefetch_parts

BATCH: Final = 2000
LONGEST_RULE: Final = 400
AS_RELEASED: Final = "as released: "
GIVER: Final = ("source", "assisted", "scale", "annotator", "version", "basis")
SAID: Final = ("pair", "annotator", "round", "value", "scale", "assisted", "basis")
LABEL_COLUMNS: Final = (*SAID, "source", "created_at")
SIDES: Final = {
    Collection.Kind.QUERIES: (provenance.QUERIES, "query-idx"),
    Collection.Kind.SNIPPETS: (provenance.SNIPPETS, "code-idx"),
}
"""For each kind of member: its side file, and the key under which that file has the member's number."""

A = TypeVar("A")


class _Known(Exception):
    """The benchmark was published before."""

    def __init__(self, benchmark: Benchmark) -> None:
        super().__init__(str(benchmark))
        self.benchmark = benchmark


Giver: TypeAlias = tuple[str, ...]
"""What the file says of who gave a label, as in GIVER; empty where it says nothing."""
Given: TypeAlias = tuple[bytes, bytes, float, Giver, str, str, str, int]
"""Hashes of query and snippet, relevance, who gave it, and the numbers of both with the names of their keys,
empty where it has none; then the number of the record."""


class NoRelease(ValueError):
    """The folder has none of a release's files; the message names them."""


@checkpoint_rarely()
def import_release(folder: Path, name: str, options: Options) -> Imported:
    """Import a release as collections and a benchmark called `name`. Raises `NoRelease`.

    Labels get annotators of the kind original data, one for each that gave some, which say who that was.
    """
    release, told = release_in(folder), manifest_of(folder)
    if folder.is_file():
        raise NoRelease(f"{folder} is a file: unpack it and name the folder, or upload it on its page.")
    if release.pairs is None and (release.queries is None or release.codebase is None):
        raise NoRelease(
            f"{folder} has no query.json, codebase.json or pairs.json (or test_agent_… versions)."
        )
    if release.refused:
        others = options.counts()
        others.refuse_unread(release.refused)
        return Imported(others=others)
    importing = _Import(folder, name, release, told, options)
    pairs = release.pairs
    for path in (release.queries or pairs, release.codebase or pairs, pairs):
        if path:
            expect_file_read(path)
    importing.refuse_missing()
    for problem in release.unread:
        importing.others.refuse_unread(problem)
    if options.dry_run:
        counted = importing.counted()
    else:
        with importing.apart:
            importing.fill()
        importing.label()
        counted = importing.done()
    missing = importing.sides.describe_withheld()
    importing.refuse_unread()
    return replace(counted.with_benchmark(options, importing.published), missing=missing)


class _Import:
    """One import of a release, step by step."""

    def __init__(self, folder: Path, name: str, release: Release, told: Manifest, options: Options) -> None:
        self.folder, self.name, self.release, self.told, self.options = folder, name, release, told, options
        self.others = options.counts()
        self.refused = set[int]()
        self.sides = SideFiles(folder, bool(told.digest))
        self.candidates = Candidates(self.sides)
        self.queries: Members | None = None
        self.snippets: Members | None = None
        self.givers: dict[Giver, tuple[int, str, bool, str]] = {}
        self.means: dict[int, Chosen] = {}
        self.apart, self.known = Apart(), cosqa.TextsById()

    def done(self) -> Imported:
        queries, snippets = (part.counts if part else None for part in (self.queries, self.snippets))
        return Imported(queries, snippets, self.others)

    def refuse(self, problem: Problem) -> None:
        """Remember a record that is no member, so that its pair is not told of a second time."""
        self.refused.add(problem.record)
        self.options.refused(problem)

    def tick(self) -> None:
        self.options.tick(self.done().total())

    def sources(self) -> tuple[Iterator[Record | Problem], Iterator[Record | Problem]]:
        """Queries and snippets, those of the pairs where they have no file."""
        release = self.release
        queries, codebase = release.queries or release.pairs, release.codebase or release.pairs
        assert queries and codebase, "else it is no release"
        return cosqa.read_queries(queries, LICENCE, self.known), cosqa.read_snippets(
            codebase, LICENCE, self.known
        )

    def counted(self) -> Imported:
        """What is there, and nothing stored."""
        found = ImportCounts(tell=self.refuse), ImportCounts(tell=self.refuse)
        there, numbers = (set[bytes](), set[bytes]()), (dict[int, int](), dict[int, int]())
        for kind, records, counts, place in zip(SIDES, self.sources(), found, range(2), strict=True):
            beside = self.sides.beside_members(*SIDES[kind])
            for record, number, _ in _with_origins(records, beside, self.told.knows_rules, counts):
                flags_of(canonicalize_text(record.text), kind, counts)
                there[place].add(digest := _hash(record.text))
                if number.isdecimal():
                    numbers[place].setdefault(int(number), hash(digest))
        self.check_candidates(*numbers)
        for batch in _batches(self.given(self.release.pairs) if self.release.pairs else iter(())):
            self.others.labels += len(self.of_members(self.readable(batch), *there))
        return Imported(*found, self.others)

    def fill(self) -> None:
        """The members of both collections."""
        wanted = self.told.pool == Pool.CANDIDATES
        for (kind, (side, key)), records in zip(SIDES.items(), self.sources(), strict=True):
            filled = Members(
                find_or_make_collection(self.name, kind, self.folder.name, self.options),
                ImportCounts(tell=self.refuse),
            )
            self.queries, self.snippets = (
                (filled, self.snippets) if kind == Collection.Kind.QUERIES else (self.queries, filled)
            )
            beside = self.sides.beside_members(side, key)
            told = _with_origins(records, beside, self.told.knows_rules, filled.counts)
            aliases = self.folder / provenance.ALIASES
            for batch in prefetch_parts(_batches(told)):
                store_release_batch(filled, batch, wanted or aliases.is_file(), self.apart)
                self.tick()
            self.keep_aliases(filled, key)
        assert self.queries and self.snippets, "as the loop has just made them"
        self.check_candidates(self.queries.numbers, self.snippets.numbers)

    def check_candidates(self, asked: Mapping[int, int], code: Mapping[int, int]) -> None:
        """Refuse candidates that can't be stored, where they are what is searched."""
        if self.told.pool == Pool.CANDIDATES:
            self.candidates.check(asked, code)

    def keep_aliases(self, filled: Members, key: str) -> None:
        """Further ids of texts that the release has once."""
        given, withheld = list[tuple[str, int]](), self.sides.withheld_numbers(key)
        for row in self.sides.rows(provenance.ALIASES, key):
            text, name = filled.numbers.get(row.number), row.told.get("source_id")
            if not isinstance(name, str) or not name.strip():
                self.sides.refuse(provenance.ALIASES, row.record, 'has no "source_id" that is a text')
            elif text is not None:
                given.append((stored_id(name), text))
            elif row.number not in withheld:
                self.sides.refuse(provenance.ALIASES, row.record, f'no record has the "{key}" {row.number}')
        with transaction.atomic():
            locked = Collection.objects.select_for_update().get(pk=filled.target.pk)
            add_aliases(locked, given, filled.counts)

    def refuse_unread(self) -> None:
        """Count what could not be read of side files: who gave a label, or where a text is from, is lost."""
        for problem in self.sides.unread.values():
            self.others.refuse_unread(problem)
        self.sides.unread.clear()

    def refuse_missing(self) -> None:
        """Refuse files that the release names and has not got: what they tell is lost."""
        for name in self.told.files:
            ends = ("", *PACKED) if name in MAIN_FILES else ("",)
            if not any((self.folder / f"{name}{end}").is_file() for end in ends):
                self.sides.refuse(name, 0, f"is not there, though {MANIFEST} names it")

    def label(self) -> None:
        """The labels of `pairs.json`, in batches."""
        if self.release.pairs is None:
            return
        for batch in prefetch_parts(_batches(self.given(self.release.pairs))):
            with transaction.atomic():
                self.store_labels(self.readable(batch))
            self.tick()

    def given(self, path: Path) -> Iterator[Given | Problem | None]:
        """Yield what is said of each pair; None for one that can't be read and was told of before.

        Made by a thread: nothing here may ask the database, nor count.
        """
        sides = self.sides.beside_pairs(provenance.LABELS)
        hashed = lru_cache(maxsize=8)(_hash)  # the pairs of a query follow each other
        refused = self.refused
        for element in stream_json_elements(path):
            if isinstance(element, Problem):
                yield element if self.release.queries or element.record not in refused else None
                continue
            row = sides.of(_pair_key(element.value))
            if isinstance(element.value, dict) and not cosqa.has_label(element.value):
                continue  # a pair without a label is unjudged
            found = cosqa.read_pair_label(element, path, self.known)
            if isinstance(found, Problem):
                yield found if self.release.queries or found.record not in refused else None
                continue
            yield (
                hashed(found.query),
                _hash(found.snippet),
                self.relevance(row, found.value),
                tuple([str(row.told.get(name, "")) for name in GIVER]) if row.told else (),
                found.query_id,
                found.snippet_id,
                found.id_from,
                element.number,
            )
        sides.pass_rest()

    def relevance(self, row: SideRow, label: int) -> float:
        """The relevance beside a label, where it is a number that means the same; a mean is one, too."""
        relevance = row.told.get("relevance", label)
        if is_finite(relevance) and abs(relevance) <= LARGEST_GRADE and (relevance > 0) == bool(label):
            return float(relevance)
        why = f'"relevance" is {clip_text(str(relevance))}; the label {label} of its pair counts'
        self.sides.refuse(provenance.LABELS, row.record, why, costs_labels=False)
        return float(label)

    def readable(self, batch: Sequence[Given | Problem | None]) -> list[Given]:
        """Those of a batch that can be read; all are counted."""
        self.others.read += len(batch)
        for problem in batch:
            if isinstance(problem, Problem):
                self.others.refuse(problem)
        given = [row for row in batch if isinstance(row, tuple)]
        self.others.ids.update(row[6] for row in given)
        return given

    def of_members(
        self, batch: Sequence[Given], asked: Container[bytes], code: Container[bytes]
    ) -> list[Given]:
        """Those of a batch whose query and code are there; the others are refused."""
        kept = list[Given]()
        for row in batch:
            if row[0] in asked and row[1] in code:
                kept.append(row)
            else:
                what = "code" if row[0] in asked else "query"
                why = f"its {what} is in no file of the release, or was refused"
                self.others.refuse(Problem(str(self.release.pairs), row[7], why, costs_labels=True))
        return kept

    def said(self, key: Giver, value: int) -> tuple[int, int, int, str, bool, str]:
        """The columns SAID of a label after its pair."""
        by, scale, assisted, basis = self.giver(key)
        return by, 1, value, scale or scale_of_grades([value]), assisted, basis

    def giver(self, key: Giver) -> tuple[int, str, bool, str]:
        """The annotator of labels, their scale where one is told, whether they were assisted, their basis."""
        if key not in self.givers:
            source, assisted, scale, annotator, version, basis = key or ("",) * len(GIVER)
            config: dict[str, Any] = {"source": self.folder.name}
            if source in Source.values and (version or source != Source.ORIGINAL):
                who, which = mark_hostile_characters(annotator)[:120], mark_hostile_characters(version)[:64]
                config |= {"given_by": source, "annotator": who, "version": which}
            by = source_annotator(self.name, config, self.options)
            scale = scale if scale in Label.Scale.values else ""
            self.givers[key] = by.pk, scale, assisted == str(True), basis if basis in BASES else ""
        return self.givers[key]

    def store_labels(self, batch: Sequence[Given]) -> None:
        assert self.queries and self.snippets, "members come first"
        asked, code = self.queries.ids, self.snippets.ids
        kept = self.of_members(batch, asked, code)
        pairs = Pair.objects.keep_ids([(asked[row[0]], code[row[1]]) for row in kept])
        now = timezone.now()
        rows = []
        several = pairs_with_aliases(pairs, self.named)
        givers = {self.giver(row[3])[0] for row in kept} if several else ()
        before = {by: labels_there(by, several.values()) for by in givers}
        for query, snippet, relevance, key, *_ in kept:
            texts = asked[query], code[snippet]
            if relevance.is_integer():
                rows.append((pairs[texts], *self.said(key, int(relevance)), self.name, now))
            else:  # the mean of several labels, which are not in the file
                self.means.setdefault(pairs[texts], Chosen(*texts, pairs[texts], relevance, None, ""))
        self.note_known(rows, set(several.values()))
        statements.insert_all(Label, LABEL_COLUMNS, rows, unless_there=True)
        for by, there in before.items():
            mine = [row for row in kept if self.giver(row[3])[0] == by and row[2].is_integer()]
            keep_label_ids(self.by_ids(mine, several), several, by, self.named, there, self.others)
        self.others.labels += len(kept)

    def note_known(self, rows: Sequence[tuple[Any, ...]], several: Container[int]) -> None:
        """Count labels of pairs that have one of the same giver, and those that say something else."""
        wanted = Label.objects.filter(pair__in=[row[0] for row in rows], round=1)
        givers = wanted.filter(annotator__in={row[1] for row in rows}).order_by()
        first = {(pair, by): value for pair, by, value in givers.values_list("pair", "annotator", "value")}
        self.others.known_labels += sum(row[:2] in first for row in rows)
        self.others.contradicted += sum(
            row[0] not in several and first.setdefault(row[:2], row[3]) != row[3] for row in rows
        )

    @property
    def named(self) -> Named:
        assert self.queries and self.snippets, "members come first"
        return Named(self.queries.target, self.snippets.target)

    def by_ids(
        self, batch: Sequence[Given], several: Mapping[tuple[int, int], int]
    ) -> list[tuple[tuple[int, int], GivenLabel]]:
        """Labels of pairs with `several` ids, under those that the collections have."""
        assert self.queries and self.snippets, "members come first"
        own = own_ids(self.named.queries, {query for query, _ in several})
        own_code = own_ids(self.named.snippets, {snippet for _, snippet in several})
        found = list[tuple[tuple[int, int], GivenLabel]]()
        for query, snippet, relevance, _, asked, code, *_ in batch:
            key = self.queries.ids[query], self.snippets.ids[snippet]
            if key in several:
                ids = (
                    asked and self.queries.copies.get(asked, own[key[0]]),
                    code and self.snippets.copies.get(code, own_code[key[1]]),
                )
                found.append((key, GivenLabel("", "", int(relevance), "graded", *ids)))
        return found

    def published(self, notes: str) -> Benchmark | None:
        """The benchmark of the labels, with what it says of them; None where none is of members."""
        assert self.queries and self.snippets, "members come first"
        queries, snippets = (
            Collection.objects.get(pk=part.target.pk) for part in (self.queries, self.snippets)
        )
        rule = self.told.merge_rule.removeprefix(AS_RELEASED)
        rule = (
            f"{AS_RELEASED}{rule}"[:LONGEST_RULE]
            if rule
            else "labels of the release; of several the last one"
        )
        told = " ".join(filter(None, (self.told.notes, notes)))
        order = Order(self.name, queries, snippets, rule, notes=told)
        try:
            with transaction.atomic():
                if self.told.pool == Pool.CANDIDATES:
                    order = replace(order, mining=self.mined(queries, snippets))
                given = labels_that_came(self.name)
                made = publish_chosen(
                    order, self.with_means(last_of(given)), given if self.told.by_ids else None
                )
                if order.mining is not None and made.mining_id != order.mining.pk:
                    raise _Known(made)  # takes the mining back, which is there already
                return made
        except _Known as known:
            return known.benchmark
        except NothingToPublish:
            return None

    def with_means(self, chosen: Iterable[Chosen]) -> Iterator[Chosen]:
        """What labels say, but of pairs with a mean relevance that."""
        yield from (row for row in chosen if row.pair not in self.means)
        yield from self.means.values()

    def mined(self, queries: Collection, snippets: Collection) -> Mining:
        """A mining with the candidates of the release, as if it had been performed here."""
        mining = Mining.objects.create(
            queries=queries,
            snippets=snippets,
            encoders=list(self.told.encoders),
            k=self.told.k,
            rule=0,
            until=snippets.size,
            state=Mining.State.DONE,
            finished_at=timezone.now(),
        )
        assert self.queries and self.snippets, "members come first"
        for _ in self.candidates.store(mining, self.queries.numbers, self.snippets.numbers):
            self.tick()
        return mining


def _batches(rows: Iterator[A]) -> Iterator[list[A]]:
    while batch := list(islice(rows, BATCH)):
        yield batch


def _hash(text: str) -> bytes:
    return hashlib.sha256(canonicalize_text(text).encode()).digest()


def _pair_key(pair: object) -> str:
    """The numbers of a pair, as those who tell more of it have them."""
    return f"{pair.get('query-idx')} {pair.get('code-idx')}" if isinstance(pair, dict) else ""


def _with_origins(
    records: Iterable[Record | Problem],
    sides: Beside,
    knows_rules: bool,
    counts: ImportCounts,
) -> Iterator[tuple[Record, str, Rule | None]]:
    """Yield each record with its number in the file, as a text, and its rules where they are known."""
    for record in records:
        counts.read += 1
        if isinstance(record, Problem):
            counts.refuse(record)
            continue
        counts.ids[record.id_from] += 1
        side = sides.of(record.source_id).told
        if not side:
            yield record, record.source_id, None
            continue
        told = [str(side.get(name, "")) for name in ("source_id", "origin", "licence")]
        rules = side.get("rules")
        known = (
            Rule(rules) if knows_rules and isinstance(rules, int) and 0 <= rules < 2 ** len(Rule) else None
        )
        yield Record(record.text, told[0], told[1], told[2]), record.source_id, known
    sides.pass_rest()
