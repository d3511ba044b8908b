"""Texts, members and pairs by the thousand, each batch whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from django.db import transaction
from django.db.models import F, Max

from retrieval.filters import NO_RULE, Rule
from retrieval.filters.apart import Apart
from retrieval.importing import Counts
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


class _New(NamedTuple):
    """A record that the collection lacks, its canonical text, and its rules where they are known."""

    record: Record
    text: str
    rules: Rule | None


def store(
    filled: Members, batch: Sequence[tuple[Record, str, Rule | None]], numbered: bool, apart: Apart
) -> None:
    """Add what the collection lacks of a batch: whole, or nothing of it."""
    target, counts = filled.target, filled.counts
    texts = [canonical(record.text) for record, _, _ in batch]
    digests = [digest_of(text) for text in texts]
    with transaction.atomic():
        # Another import into the same collection waits here: both would number their members alike.
        locked = Collection.objects.select_for_update().get(pk=target.pk)
        ids = _known(filled, digests, locked.size)
        new: dict[str, _New] = {}
        for (record, _, rules), digest, text in zip(batch, digests, texts, strict=True):
            if digest in ids or digest in new:
                counts.known += 1
            else:
                new[digest] = _New(record, text, rules)
        ids |= _add(filled, new, apart) if new else {}
    counts.stored += len(new)
    filled.ids.update((bytes.fromhex(digest), text) for digest, text in ids.items())
    if numbered:
        for (_, number, _), digest in zip(batch, digests, strict=True):
            if number.isdecimal():
                filled.numbers.setdefault(int(number), ids[digest])


def _flags(filled: Members, known: Sequence[Rule | None], found: Sequence[Rule | None]) -> list[Rule]:
    """The rules of new members in order: `found` are those that nobody knew, None where it does not parse."""
    if filled.target.kind == Collection.Kind.QUERIES:
        return [NO_RULE] * len(known)
    missing = iter(found)
    flags = [next(missing) if rules is None else rules for rules in known]
    for rules in flags:
        filled.counts.count_parsed(rules)
    return [rules or NO_RULE for rules in flags]


def _add(filled: Members, new: Mapping[str, _New], apart: Apart) -> dict[str, int]:
    """Store texts and members; gives the ids of the texts by their digests.

    What rules new snippets pass is found while the database stores their texts.
    """
    target, known = filled.target, [row.rules for row in new.values()]
    is_code = target.kind == Collection.Kind.SNIPPETS
    apart.ask([row.record.text for row in new.values() if is_code and row.rules is None])
    ids = _keep_texts({digest: row.text for digest, row in new.items()})
    flags = _flags(filled, known, apart.answer())
    last: int | None = target.members.aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    rows = [
        (
            target.pk,
            ids[digest],
            first + number,
            row.record.source_id[:300],
            row.record.origin[:400],
            row.record.licence[:120],
            int(rules),
        )
        for number, ((digest, row), rules) in enumerate(zip(new.items(), flags, strict=True))
    ]
    statements.insert_all(Member, MEMBER_COLUMNS, rows)
    if target.kind == Collection.Kind.QUERIES:
        heads = [(ids[digest], folded(row.text[:HEAD])) for digest, row in new.items()]
        statements.insert_all(QueryText, ("text", "folded"), heads, unless_there=True)
    Collection.objects.filter(pk=target.pk).update(size=F("size") + len(rows))
    return ids


def _keep_texts(texts: Mapping[str, str]) -> dict[str, int]:
    """Store what is new of canonical texts by digest; gives their ids."""
    ids = _ids_of_digests(list(texts))
    # In the order of hashes, so that two writers never wait for each other.
    new = [(digest, texts[digest]) for digest in sorted(texts) if digest not in ids]
    if new:
        rows = [(digest, len(text), TextBody.compressed(text)) for digest, text in new]
        statements.insert_all(TextBody, ("digest", "size", "data"), rows, unless_there=True)
        heads = [(digest, text[:HEAD], len(text)) for digest, text in new]
        statements.insert_all(Text, ("body", "head", "size"), heads, unless_there=True)
        ids |= _ids_of_digests([digest for digest, _ in new])
    return ids


def _known(filled: Members, digests: Sequence[str], size: int) -> dict[str, int]:
    """The ids of the texts with these digests that are members of the collection, which has `size` now."""
    if size == len(filled.ids):  # nothing is in it that did not pass through here
        there = ((digest, filled.ids.get(bytes.fromhex(digest))) for digest in digests)
        return {digest: text for digest, text in there if text is not None}
    return _members(filled.target, digests)


def _members(target: Collection, digests: Sequence[str]) -> dict[str, int]:
    ids = _ids_of_digests(digests)
    wanted = list(ids.values())
    there = set[int]()
    for start in range(0, len(wanted), KEYS_A_READ):
        rows = Member.objects.filter(collection=target, text__in=wanted[start : start + KEYS_A_READ])
        there.update(rows.order_by().values_list("text_id", flat=True))
    return {digest: text for digest, text in ids.items() if text in there}


def _ids_of_digests(digests: Sequence[str]) -> dict[str, int]:
    return dict(statements.look_among(Text, ("body", "id"), "body", digests))


def pair_ids(keys: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """The ids of pairs of texts; new ones are stored."""
    statements.insert_all(Pair, ("query", "snippet"), sorted(set(keys)), unless_there=True)
    wanted, found = set(keys), dict[tuple[int, int], int]()
    queries = sorted({query for query, _ in keys})
    for query, snippet, pk in statements.look_among(Pair, ("query", "snippet", "id"), "query", queries):
        if (query, snippet) in wanted:
            found[query, snippet] = pk
    return found
