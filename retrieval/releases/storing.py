"""Texts, members and pairs by the thousand, each batch whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from django.db import transaction
from django.db.models import F, Max

from retrieval.filters import Rule
from retrieval.importing import Counts, flags_of
from retrieval.models import Collection, Member, Pair, QueryText, Text, TextBody, statements
from retrieval.models.blobs import digest_of
from retrieval.models.texts import HEAD, canonical, folded
from retrieval.sources import Record

KEYS_A_READ: Final = 500
MEMBER_COLUMNS: Final = ("collection", "text", "position", "source_id", "origin", "licence", "rules")


@dataclass
class Members:
    """A collection that is filled: what was counted, and the texts' ids by hash, some 200 bytes each.

    `numbers`: the ids by their numbers in the files, where those are needed.
    """

    target: Collection
    counts: Counts = field(default_factory=Counts)
    ids: dict[bytes, int] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)


def store(filled: Members, batch: Sequence[tuple[Record, str, Rule | None]], numbered: bool) -> None:
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


def pair_ids(keys: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
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
