"""Texts and members by the thousand, each batch whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction

from retrieval.collections.aliases import KEYS_A_READ, add_aliases, stored_id
from retrieval.collections.import_report import ImportCounts
from retrieval.collections.importer import add_members, identify_record, members_among
from retrieval.collections.revisions import Identified, refuse_other_texts
from retrieval.filters import NO_RULE, Rule
from retrieval.filters.apart import Apart
from retrieval.models import Collection, Member, Text
from retrieval.sources import Record


@dataclass
class Members:
    """A collection that is filled: what was counted, and the texts' ids by hash, some 200 bytes each.

    `numbers`: the ids by their numbers in the files, where those are needed. `copies`: by number the id of a
    record whose text another one has, too.
    """

    target: Collection
    counts: ImportCounts = field(default_factory=ImportCounts)
    ids: dict[bytes, int] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)
    copies: dict[str, str] = field(default_factory=dict)


def store_release_batch(
    filled: Members, batch: Sequence[tuple[Record, str, Rule | None]], numbered: bool, apart: Apart
) -> None:
    """Add what the collection lacks of a batch: whole, or nothing of it."""
    target, counts = filled.target, filled.counts
    found = [identify_record(record) for record, _, _ in batch]
    kept = {id(one) for one in refuse_other_texts(target, found, counts)}
    batch = [row for row, one in zip(batch, found, strict=True) if id(one) in kept]
    read = [one for one in found if id(one) in kept]
    digests = [one.digest for one in read]
    with transaction.atomic():
        # Another import into the same collection waits here: both would number their members alike.
        locked = Collection.objects.select_for_update().get(pk=target.pk)
        ids = _known(filled, digests, locked.size)
        new: dict[str, tuple[Identified, Rule | None]] = {}
        again: list[str] = []
        named: list[tuple[str, str, str]] = []
        for one, (record, number, rules) in zip(read, batch, strict=True):
            if one.digest in ids or one.digest in new:
                again.append(one.digest)
                if record.has_id:
                    named.append((number, stored_id(record.source_id), one.digest))
            else:
                new[one.digest] = one, rules
        ids |= _add(filled, new, apart) if new else {}
        _count_known(filled, [ids[digest] for digest in again])
        add_aliases(target, [(name, ids[digest]) for _, name, digest in named], counts)
    filled.copies.update((number, name) for number, name, _ in named)
    counts.stored += len(new)
    filled.ids.update((bytes.fromhex(digest), text) for digest, text in ids.items())
    if numbered:
        for (_, number, _), digest in zip(batch, digests, strict=True):
            if number.isdecimal():
                filled.numbers.setdefault(int(number), ids[digest])


def _count_known(filled: Members, texts: Sequence[int]) -> None:
    """Count members that a batch has again, by the rules that are stored with them."""
    filled.counts.known += len(texts)
    if filled.target.kind == Collection.Kind.QUERIES:
        return
    for start in range(0, len(texts), KEYS_A_READ):
        part = texts[start : start + KEYS_A_READ]
        rows = Member.objects.filter(collection=filled.target, text__in=part).order_by()
        passed = dict(rows.values_list("text_id", "rules"))
        for text in part:
            filled.counts.count_rules(Rule(passed[text]), text)


def _flags(
    filled: Members, known: Mapping[int, Rule | None], found: Sequence[Rule | None]
) -> dict[int, Rule]:
    """The rules of new members by their texts' ids: `found` are those that nobody knew, in order, None where
    one does not parse.
    """
    if filled.target.kind == Collection.Kind.QUERIES:
        return dict.fromkeys(known, NO_RULE)
    missing = iter(found)
    flags = {text: next(missing) if rules is None else rules for text, rules in known.items()}
    for text, rules in flags.items():
        filled.counts.count_rules(rules, text)
    return {text: rules or NO_RULE for text, rules in flags.items()}


def _add(filled: Members, new: Mapping[str, tuple[Identified, Rule | None]], apart: Apart) -> dict[str, int]:
    """Store texts and members; gives the ids of the texts by their digests.

    What rules new snippets pass is found while the database stores their texts.
    """
    target = filled.target
    is_code = target.kind == Collection.Kind.SNIPPETS
    apart.ask([one.text for one, rules in new.values() if is_code and rules is None])
    ids = Text.objects.keep_ids({digest: one.text for digest, (one, _) in new.items()})
    flags = _flags(filled, {ids[digest]: rules for digest, (_, rules) in new.items()}, apart.answer())
    add_members(target, [(one, ids[digest], flags[ids[digest]]) for digest, (one, _) in new.items()])
    return ids


def _known(filled: Members, digests: Sequence[str], size: int) -> dict[str, int]:
    """The ids of the texts with these digests that are members of the collection, which has `size` now."""
    if size == len(filled.ids):  # nothing is in it that did not pass through here
        there = ((digest, filled.ids.get(bytes.fromhex(digest))) for digest in digests)
        return {digest: text for digest, text in there if text is not None}
    return _members_by_digest(filled.target, digests)


def _members_by_digest(target: Collection, digests: Sequence[str]) -> dict[str, int]:
    ids = Text.objects.ids_of(digests)
    there = {text for (text,) in members_among(target, ids.values())}
    return {digest: text for digest, text in ids.items() if text in there}
