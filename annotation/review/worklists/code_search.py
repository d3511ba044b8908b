"""Functions whose code contains a text, whatever its case.

Code is stored compressed, so it is read, up to a bound.

The bounds are numbers, not seconds: every database and every reader gets the same functions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from retrieval.models import Collection, Member, TextBody
from retrieval.models.texts import fold_for_search

MOST_READ: Final = 50_000
"""Functions of a collection whose code is read, the first ones."""
MOST_FOUND: Final = 5_000
"""Functions that one search takes; databases bound how many values a statement may have."""
ROWS_AT_ONCE: Final = 2_000


@dataclass(frozen=True, slots=True)
class FoundCode:
    """The texts (ids) that contain it; `is_whole`: nothing was left out, at either bound."""

    texts: tuple[int, ...]
    is_whole: bool


def find_code(snippets: Collection, part: str) -> FoundCode:
    """The functions of the collection that contain `part`; `size` in the key, as collections grow."""
    return search_collection_code(snippets.pk, snippets.size, fold_for_search(part))


@lru_cache(maxsize=32)
def search_collection_code(collection: int, size: int, folded: str) -> FoundCode:
    """The same, kept in memory: who goes through a list asks for it with each pair."""
    members = Member.objects.filter(collection=collection).order_by("position")
    rows = members.values_list("text_id", "text__body__data")[:MOST_READ]
    found: list[int] = []
    for text, data in rows.iterator(chunk_size=ROWS_AT_ONCE):
        if folded in fold_for_search(TextBody(data=data).text):
            found.append(text)
            if len(found) > MOST_FOUND:
                return FoundCode(tuple(found[:MOST_FOUND]), is_whole=False)
    return FoundCode(tuple(found), is_whole=size <= MOST_READ)
