"""What the API says of collections and their members, and how every list of the API is cut into pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from operator import attrgetter
from typing import Annotated, Any, Final, Generic, Literal, Protocol, Self, TypeVar

from ninja import Schema
from ninja.schema import DjangoGetter
from pydantic import ConfigDict, Field, ModelWrapValidatorHandler, ValidationInfo, model_validator

Item = TypeVar("Item")
Item_co = TypeVar("Item_co", covariant=True)

LARGEST_ID = 2**63 - 1
LARGEST_PAGE = 200
Id = Annotated[int, Field(ge=1, le=LARGEST_ID)]
Kind = Literal["queries", "functions"]


class Sliceable(Protocol[Item_co]):
    """A list, or rows that the database has not read yet."""

    def __getitem__(self, part: slice, /) -> Iterable[Item_co]: ...


class Page(Schema, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    next: int | None = Field(description="`after` of the next page; null on the last")


class Paging(Schema):
    """Which page of a list."""

    after: int | None = Field(None, ge=0, le=LARGEST_ID, description="`next` of the page before")
    limit: int = Field(50, ge=1, le=LARGEST_PAGE, description="items a page")

    def page(self, rows: Sliceable[Item], place: Callable[[Item], int] = attrgetter("pk")) -> Page[Item]:
        """The first of `rows`, those after `after` in their order; `place` is what the cursor counts."""
        read = list(rows[: self.limit + 1])
        items = read[: self.limit]
        return Page(items=items, next=place(items[-1]) if len(read) > self.limit else None)


class RowSchema(Schema):
    """What the API says of a row, read from its attributes.

    A field with a `validation_alias` stands at that place of the row: `case_id`, `by.username`.
    """

    model_config = ConfigDict(populate_by_name=True)

    @classmethod
    def of(cls, row: object, **more: Any) -> Self:
        """What is said of `row`; `more` are the fields that it has not."""
        return cls.model_validate(_Extended(row, more))

    @model_validator(mode="wrap")
    @classmethod
    def _run_root_validator(
        cls, values: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Self:
        """The library's wrapper would read every row again, even one that was checked when it was made.

        The columns of a row, by the names of the fields, are checked without a look at each attribute.
        """
        if type(values) is cls:
            return values
        return handler(values if type(values) is dict else DjangoGetter(values, cls, info.context))


class _Extended:
    """A row with further attributes."""

    def __init__(self, row: object, more: dict[str, Any]) -> None:
        self._row = row
        self.__dict__.update(more)

    def __getattr__(self, name: str) -> Any:
        # A place such as `by.username` would else be looked up as a variable of a template, which is slow.
        return attrgetter(name)(self) if "." in name else getattr(self._row, name)


class TextHead(RowSchema):
    """A query or function by the beginning of its text."""

    id: int
    digest: str = Field(description="sha256 of the whole text: its identity everywhere")
    head: str
    size: int = Field(description="characters of the whole text")


TEXT_HEAD: Final = ("id", "body", "head", "size")
"""The columns of a text that a `TextHead` is made of, in the order of `build_text_head`."""


def build_text_head(pk: int, digest: str, head: str, size: int) -> dict[str, Any]:
    """What is said of a text, out of its columns."""
    return {"id": pk, "digest": digest, "head": head, "size": size}


class CollectionOut(Schema):
    """One version of a collection."""

    id: int
    name: str
    version: int
    kind: Kind = Field(validation_alias="noun")
    source: str
    size: int = Field(description="members")
    created_at: datetime


class MemberOut(RowSchema):
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
