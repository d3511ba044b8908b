"""A collection of another one's snippets and some more: stored once, and the next version where it grows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, TypeAlias

from retrieval.collections.aliases import copy_aliases
from retrieval.collections.importer import MEMBER_COLUMNS
from retrieval.models import Collection, Member, statements

ROWS_AT_ONCE: Final = 2_000
LONGEST_NAME: Final = 120
LONGEST_SOURCE: Final = 400

MemberRow: TypeAlias = tuple[int, str, str, str, int, str]
"""Id of a text, source id, origin, licence, rules, partition."""


def end_name(name: str, ending: str) -> str:
    """The name of a collection with an ending, short enough for a name."""
    return name[: LONGEST_NAME - len(ending)] + ending


def keep_superset(
    part: Collection, name: str, source: str, texts: Sequence[int], rows: Iterable[MemberRow]
) -> Collection:
    """The newest collection called `name` if it has just these texts in this order; else its next version.

    `rows` are its members, one for each of `texts` (ids); what has further ids in `part` keeps them.
    """
    newest = Collection.objects.filter(name=name, kind=part.kind).order_by("-version").first()
    if newest is not None:
        there = newest.members.order_by("position").values_list("text_id", flat=True)
        if list(there.iterator(ROWS_AT_ONCE)) == list(texts):
            return newest
    made = Collection.objects.create(
        name=name,
        kind=part.kind,
        version=newest.version + 1 if newest else 1,
        source=source[:LONGEST_SOURCE],
        size=len(texts),
    )
    numbered = ((made.pk, text, position, *rest) for position, (text, *rest) in enumerate(rows))
    while some := list(islice(numbered, ROWS_AT_ONCE)):
        statements.insert_all(Member, MEMBER_COLUMNS, some)
    copy_aliases(part, made, texts)
    return made
