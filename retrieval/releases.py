"""A release folder → collections, labels and a benchmark, by the hundred thousand pairs.

The same folder gives the same benchmark: with `workbench.json` and `provenance/`, which `export release`
writes, also origins, licences, who gave each label, and the candidates that are searched. Without them it is
any release of CoSQA+. Importing again changes nothing, and goes on where it was cut off.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone

from retrieval.evaluation.publishing import NothingToPublish, Order, publish
from retrieval.exporting import provenance
from retrieval.exporting.writing import FORMAT, MANIFEST
from retrieval.filters import Rule
from retrieval.importing import Counts, Imported, Options, collection, flags_of
from retrieval.models import (
    Annotator,
    Benchmark,
    Candidate,
    Collection,
    Label,
    Member,
    Mining,
    Pair,
    Pool,
    QueryText,
    Source,
    Text,
    TextBody,
    statements,
)
from retrieval.models.blobs import digest_of
from retrieval.models.texts import HEAD, canonical, folded
from retrieval.sources import Problem, Record
from retrieval.sources.cosqa import label_of, read_queries, read_snippets
from retrieval.sources.cosqa_plus import LICENCE, Release, release_in
from retrieval.sources.json_stream import elements
from retrieval.sources.records import Object, objects

BATCH: Final = 2000
KEYS_A_READ: Final = 500
LONGEST_RULE: Final = 400
AS_RELEASED: Final = "as released: "
GIVER: Final = ("source", "assisted", "scale", "annotator", "version")
LABEL_COLUMNS: Final = ("pair", "annotator", "round", "value", "scale", "assisted", "source", "created_at")
MEMBER_COLUMNS: Final = ("collection", "text", "position", "source_id", "origin", "licence", "rules")
CANDIDATE_COLUMNS: Final = ("mining", "pair", "query", "rank", "score", "scores")


Given: TypeAlias = tuple[bytes, bytes, int, Annotator, str, bool]
"""Hashes of query and snippet, value, annotator, scale, whether it was assisted."""


class NoRelease(ValueError):
    """The folder has none of a release's files; the message names them."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What `workbench.json` says, as far as it can be believed; all empty without one."""

    digest: str = ""
    pool: Pool = Pool.COLLECTION
    merge_rule: str = ""
    encoders: tuple[str, ...] = ()
    k: int = 1
    knows_rules: bool = False


@dataclass
class _Members:
    """A collection that is filled: what was counted, and the texts' ids by hash, some 200 bytes each.

    `numbers`: the ids by their numbers in the files, where those are needed.
    """

    target: Collection
    counts: Counts = field(default_factory=Counts)
    ids: dict[bytes, int] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)


def manifest_of(folder: Path) -> Manifest:
    """What the folder says of itself; one that is no export of ours says nothing."""
    try:
        told = json.loads((folder / MANIFEST).read_text("utf-8"))
        if told["format"] != FORMAT or told["written_as"] != "release":
            return Manifest()
        mining = told["mining"] or {"encoders": [], "k": 1}
        return Manifest(
            str(told["digest"]),
            Pool(told["pool"]),
            str(told["merge_rule"]),
            tuple(str(name)[:120] for name in mining["encoders"]),
            max(1, min(int(mining["k"]), 10**6)),
            told["rules"] == [str(rule.name) for rule in Rule],
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Manifest()


def import_release(folder: Path, name: str, options: Options) -> Imported:
    """Import a release as collections and a benchmark called `name`. Raises `NoRelease`.

    Labels get annotators of the kind original data, one for each that gave some, which say who that was.
    """
    release, told = release_in(folder), manifest_of(folder)
    if release.pairs is None and (release.queries is None or release.codebase is None):
        raise NoRelease(
            f"{folder} has no query.json, codebase.json or pairs.json (nor test_agent_… of them)."
        )
    importing = _Import(folder, name, release, told, options)
    if options.dry_run:
        return importing.counted()
    importing.fill()
    importing.label()
    return importing.done(importing.published())


class _Import:
    """One import of a release, step by step."""

    def __init__(self, folder: Path, name: str, release: Release, told: Manifest, options: Options) -> None:
        self.folder, self.name, self.release, self.told, self.options = folder, name, release, told, options
        self.others = Counts()
        self.queries: _Members | None = None
        self.snippets: _Members | None = None
        self.givers: dict[tuple[str, ...], tuple[Annotator, str, bool]] = {}

    def done(self, benchmark: Benchmark | None = None) -> Imported:
        queries, snippets = (part.counts if part else None for part in (self.queries, self.snippets))
        return Imported(queries, snippets, self.others, benchmark)

    def tick(self) -> None:
        self.options.tick(self.done().total())

    def sources(self) -> tuple[Iterator[Record | Problem], Iterator[Record | Problem]]:
        """Queries and snippets, those of the pairs where they have no file."""
        queries, codebase = (
            self.release.queries or self.release.pairs,
            self.release.codebase or self.release.pairs,
        )
        assert queries and codebase, "else it is no release"
        return read_queries(queries, LICENCE), read_snippets(codebase, LICENCE)

    def counted(self) -> Imported:
        """What is there, and nothing stored."""
        found = Counts(), Counts()
        for kind, records, counts in zip(Collection.Kind.values, self.sources(), found, strict=True):
            for record in records:
                counts.read += 1
                if isinstance(record, Problem):
                    counts.refuse(record)
                else:
                    flags_of(record, kind, counts)
        return Imported(*found)

    def fill(self) -> None:
        """The members of both collections."""
        queries, snippets = self.sources()
        wanted = self.told.pool == Pool.CANDIDATES
        for kind, records, side, key in (
            (Collection.Kind.QUERIES, queries, provenance.QUERIES, "query-idx"),
            (Collection.Kind.SNIPPETS, snippets, provenance.SNIPPETS, "code-idx"),
        ):
            filled = _Members(collection(self.name, kind, self.folder.name))
            self.queries, self.snippets = (
                (filled, self.snippets) if kind == Collection.Kind.QUERIES else (self.queries, filled)
            )
            known = self.side(side, key)
            told = _with_origins(records, known, self.told.knows_rules, filled.counts)
            while batch := list(islice(told, BATCH)):
                _store(filled, batch, wanted)
                self.tick()

    def side(self, name: str, key: str) -> Iterator[tuple[int, Object]]:
        """The records of a side file with their numbers; none where it is missing."""
        path = self.folder / name
        if self.told.digest and path.is_file():
            for row in objects(path):
                if not isinstance(row, Problem) and isinstance(row[1].get(key), int):
                    yield row[1][key], row[1]

    def label(self) -> None:
        """The labels of `pairs.json`, in batches."""
        if self.release.pairs is None:
            return
        rows = self.given(self.release.pairs)
        while batch := list(islice(rows, BATCH)):
            with transaction.atomic():
                self.store_labels(batch)
            self.tick()

    def given(self, path: Path) -> Iterator[Given]:
        """Yield the hashes of query and snippet, value, annotator, scale, assisted of each label."""
        sides = self.side(provenance.LABELS, "query-idx")
        side = next(sides, None)
        hashed = lru_cache(maxsize=8)(_hash)  # the pairs of a query follow each other
        refused = {
            problem.record
            for part in (self.queries, self.snippets)
            if part
            for problem in part.counts.problems
        }
        for element in elements(path):
            if (
                not isinstance(element, Problem)
                and isinstance(element.value, dict)
                and "label" not in element.value
            ):
                continue  # a pair without a label is unjudged
            found = element if isinstance(element, Problem) else label_of(element, path)
            self.others.read += 1
            if isinstance(found, Problem):
                if self.release.queries or found.record not in refused:
                    self.others.refuse(found)
                continue
            keys = (element.value.get("query-idx"), element.value.get("code-idx"))  # type: ignore[union-attr]
            told: Object = {}
            if side is not None and (side[0], side[1].get("code-idx")) == keys:
                told, side = side[1], next(sides, None)
            yield (
                hashed(found.query),
                _hash(found.snippet),
                _value(told, found.value),
                *self.giver(told),
            )

    def giver(self, told: Object) -> tuple[Annotator, str, bool]:
        """The annotator of a label, its scale, and whether it was assisted."""
        key = tuple(str(told.get(name, "")) for name in GIVER) if told else ()
        if key not in self.givers:
            scale = told.get("scale")
            scale = scale if scale in Label.Scale.values else Label.Scale.BINARY.value
            config: dict[str, Any] = {"source": self.folder.name}
            if told.get("source") in Source.values and told["source"] != Source.ORIGINAL:
                config |= {"given_by": told["source"], "annotator": key[3][:120], "version": key[4][:64]}
            by = Annotator.objects.version(Annotator.Kind.ORIGINAL, self.name, config)
            self.givers[key] = by, scale, told.get("assisted") is True
        return self.givers[key]

    def store_labels(self, batch: Sequence[Given]) -> None:
        assert self.queries and self.snippets, "members come first"
        asked, code = self.queries.ids, self.snippets.ids
        kept = [row for row in batch if row[0] in asked and row[1] in code]
        if len(kept) < len(batch):
            message = f"{len(batch) - len(kept)} pairs whose query or code is in no file of the release"
            self.others.refuse(Problem(str(self.release.pairs), 0, message))
        pairs = _pair_ids([(asked[row[0]], code[row[1]]) for row in kept])
        now = timezone.now()
        rows = [
            (pairs[asked[query], code[snippet]], by.pk, 1, value, scale, assisted, self.name, now)
            for query, snippet, value, by, scale, assisted in kept
        ]
        statements.insert_all(Label, LABEL_COLUMNS, rows, unless_there=True)
        self.others.labels += len(kept)

    def published(self) -> Benchmark | None:
        """The benchmark of the labels; None where there are none."""
        assert self.queries and self.snippets, "members come first"
        queries, snippets = (
            Collection.objects.get(pk=part.target.pk) for part in (self.queries, self.snippets)
        )
        last = Benchmark.objects.newest(self.name)
        if last is not None and last.digest == self.told.digest and not self.others.problems:
            return last
        rule = self.told.merge_rule.removeprefix(AS_RELEASED)
        rule = (
            f"{AS_RELEASED}{rule}"[:LONGEST_RULE]
            if rule
            else "labels of the release; of several the last one"
        )
        order = Order(self.name, queries, snippets, rule)
        try:
            with transaction.atomic():
                if self.told.pool == Pool.CANDIDATES:
                    order = replace(order, mining=self.mined(queries, snippets))
                given = Label.objects.filter(
                    annotator__kind=Annotator.Kind.ORIGINAL, annotator__name=self.name
                )
                return publish(order, given)
        except NothingToPublish:
            return None

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
        rows = self.side(provenance.CANDIDATES, "query-idx")
        while batch := list(islice(rows, BATCH)):
            self.store_candidates(mining, [row for _, row in batch])
            self.tick()
        return mining

    def store_candidates(self, mining: Mining, batch: Sequence[Object]) -> None:
        assert self.queries and self.snippets, "members come first"
        asked, code = self.queries.numbers, self.snippets.numbers
        found = [
            (asked[row["query-idx"]], code[row["code-idx"]], int(row["rank"]), float(row["score"]))
            for row in batch
            if row["query-idx"] in asked and row.get("code-idx") in code
        ]
        pairs = _pair_ids([(query, snippet) for query, snippet, _, _ in found])
        rows = [
            (mining.pk, pairs[query, snippet], query, rank, score, "{}")
            for query, snippet, rank, score in found
        ]
        statements.insert_all(Candidate, CANDIDATE_COLUMNS, rows)


def _hash(text: str) -> bytes:
    return hashlib.sha256(canonical(text).encode()).digest()


def _value(told: Mapping[str, Any], label: int) -> int:
    """The relevance beside a label, where it is a whole number that means the same."""
    relevance = told.get("relevance")
    plain = isinstance(relevance, int) and not isinstance(relevance, bool) and -10 <= relevance <= 100
    return relevance if plain and (relevance > 0) == bool(label) else label  # type: ignore[operator,return-value]


def _with_origins(
    records: Iterable[Record | Problem],
    sides: Iterator[tuple[int, Object]],
    knows_rules: bool,
    counts: Counts,
) -> Iterator[tuple[Record, str, Rule | None]]:
    """Yield each record with its number in the file, as a text, and its rules where they are known."""
    side = next(sides, None)
    for record in records:
        counts.read += 1
        if isinstance(record, Problem):
            counts.refuse(record)
            continue
        while side is not None and str(side[0]) != record.source_id:
            side = next(sides, None)
        if side is None:
            yield record, record.source_id, None
            continue
        told = {name: str(side[1].get(name, "")) for name in ("source_id", "origin", "licence")}
        rules = side[1].get("rules")
        known = (
            Rule(rules) if knows_rules and isinstance(rules, int) and 0 <= rules < 2 ** len(Rule) else None
        )
        yield Record(record.text, **told), record.source_id, known
        side = next(sides, None)


def _store(filled: _Members, batch: Sequence[tuple[Record, str, Rule | None]], numbered: bool) -> None:
    """Add what the collection lacks of a batch: whole, or nothing of it."""
    target, counts = filled.target, filled.counts
    digests = [digest_of(canonical(record.text)) for record, _, _ in batch]
    with transaction.atomic():
        # Another import into the same collection waits here: both would number their members alike.
        locked = Collection.objects.select_for_update().get(pk=target.pk)
        ids = _text_ids(target, digests) if locked.size else {}
        new: dict[str, tuple[Record, Rule]] = {}
        for (record, _, rules), digest in zip(batch, digests, strict=True):
            if digest in ids or digest in new:
                counts.known += 1
            else:
                new[digest] = record, _flags(record, target.kind, rules, counts)
        ids |= _add(target, new) if new else {}
    counts.stored += len(new)
    filled.ids.update((bytes.fromhex(digest), text) for digest, text in ids.items())
    if numbered:
        for (_, number, _), digest in zip(batch, digests, strict=True):
            if number.isdecimal():
                filled.numbers.setdefault(int(number), ids[digest])


def _flags(record: Record, kind: str, known: Rule | None, counts: Counts) -> Rule:
    if known is None or kind == Collection.Kind.QUERIES:
        return flags_of(record, kind, counts)
    counts.count_rules(known)
    return known


def _add(target: Collection, new: Mapping[str, tuple[Record, Rule]]) -> dict[str, int]:
    """Store texts and members; gives the ids of the texts by their digests."""
    ids = _keep_texts({digest: record.text for digest, (record, _) in new.items()})
    last: int | None = target.members.aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    rows = [
        (
            target.pk,
            ids[digest],
            first + number,
            record.source_id[:300],
            record.origin[:400],
            record.licence[:120],
            int(rules),
        )
        for number, (digest, (record, rules)) in enumerate(new.items())
    ]
    statements.insert_all(Member, MEMBER_COLUMNS, rows)
    if target.kind == Collection.Kind.QUERIES:
        heads = [(ids[digest], folded(canonical(record.text)[:HEAD])) for digest, (record, _) in new.items()]
        statements.insert_all(QueryText, ("text", "folded"), heads, unless_there=True)
    Collection.objects.filter(pk=target.pk).update(size=F("size") + len(rows))
    return ids


def _keep_texts(texts: Mapping[str, str]) -> dict[str, int]:
    """Store what is new of texts by digest; gives their ids."""
    ids = _ids_of_digests(list(texts))
    # In the order of hashes, so that two writers never wait for each other.
    bodies = [TextBody.packed(canonical(texts[digest])) for digest in sorted(texts) if digest not in ids]
    if bodies:
        rows = [(body.digest, body.size, body.data) for body in bodies]
        statements.insert_all(TextBody, ("digest", "size", "data"), rows, unless_there=True)
        heads = [(body.digest, canonical(texts[body.digest])[:HEAD], body.size) for body in bodies]
        statements.insert_all(Text, ("body", "head", "size"), heads, unless_there=True)
        ids |= _ids_of_digests([body.digest for body in bodies])
    return ids


def _text_ids(target: Collection, digests: Sequence[str]) -> dict[str, int]:
    """The ids of the texts with these digests that are members of the collection."""
    ids = _ids_of_digests(digests)
    wanted = list(ids.values())
    there = set[int]()
    for start in range(0, len(wanted), KEYS_A_READ):
        rows = Member.objects.filter(collection=target, text__in=wanted[start : start + KEYS_A_READ])
        there.update(rows.order_by().values_list("text_id", flat=True))
    return {digest: text for digest, text in ids.items() if text in there}


def _ids_of_digests(digests: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for start in range(0, len(digests), KEYS_A_READ):
        rows = Text.objects.filter(body__in=digests[start : start + KEYS_A_READ])
        found.update(rows.values_list("body_id", "pk"))
    return found


def _pair_ids(keys: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """The ids of pairs of texts; new ones are stored."""
    statements.insert_all(Pair, ("query", "snippet"), sorted(set(keys)), unless_there=True)
    wanted, found = set(keys), dict[tuple[int, int], int]()
    queries = sorted({query for query, _ in keys})
    for start in range(0, len(queries), KEYS_A_READ):
        rows = Pair.objects.filter(query_id__in=queries[start : start + KEYS_A_READ])
        for query, snippet, pk in rows.values_list("query_id", "snippet_id", "pk"):
            if (query, snippet) in wanted:
                found[query, snippet] = pk
    return found
