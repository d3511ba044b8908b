"""What the API says of collections and their members, and how every list of the API is cut into pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Annotated, Generic, Literal, TypeVar

from ninja import Schema
from pydantic import Field

Item = TypeVar("Item")
Row = TypeVar("Row")

LARGEST_ID = 2**63 - 1
LARGEST_PAGE = 200
Id = Annotated[int, Field(ge=1, le=LARGEST_ID)]
Kind = Literal["queries", "snippets"]


class Page(Schema, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    next: int | None = Field(description="`after` of the next page; null on the last")


class Paging(Schema):
    """Which page of a list."""

    after: int | None = Field(None, ge=0, le=LARGEST_ID, description="`next` of the page before")
    limit: int = Field(50, ge=1, le=LARGEST_PAGE, description="items a page")


def page_of(
    rows: Iterable[Row], limit: int, place: Callable[[Row], int], shown: Callable[[Row], Item]
) -> Page[Item]:
    """The page that `rows` (at most one more than `limit`) make; `place` is what the cursor counts."""
    read = list(rows)
    kept = read[:limit]
    return Page(items=[shown(row) for row in kept], next=place(kept[-1]) if len(read) > limit else None)


class TextHead(Schema):
    """A query or snippet by the beginning of its text."""

    id: int
    digest: str = Field(description="sha256 of the whole text: its identity everywhere")
    head: str
    size: int = Field(description="characters of the whole text")


class CollectionOut(Schema):
    """One version of a collection."""

    id: int
    name: str
    version: int
    kind: Kind
    source: str
    size: int = Field(description="members")
    created_at: datetime


class MemberOut(Schema):
    """One text of a collection, and where it came from."""

    position: int = Field(description="from 0")
    source_id: str
    origin: str
    licence: str
    rules: list[str] = Field(description="the rules that the text passes")
    text: TextHead


class WholeMember(MemberOut):
    """A member with all of its text."""

    whole: str
