"""What the API takes and says of the list of a build's pairs: tags, assignments, saved lists."""

from __future__ import annotations

from datetime import datetime

from ninja import Schema
from pydantic import Field

from annotation.schemas.shared.fields import Body, CleanText
from retrieval.schemas import Id, Paging, RowSchema, TextHead

LONGEST_FILTERS = 600
FILTERS = "filters as in the address of the page, such as `smart=untested&tag=partial`; empty = all pairs"


class ListedPage(Paging):
    """Which pairs of the list."""

    filters: str = Field("", max_length=LONGEST_FILTERS, description=FILTERS)


class ListedPairOut(Schema):
    """A pair of the list."""

    case: int
    pair: int
    query: TextHead
    function: TextHead
    label: int | None = Field(description="the agents' own")
    label_in_force: int | None
    tags: list[str] = Field(description="their words")
    assigned: list[str] = Field(description="experts who are to review it")


class TagIn(Body):
    """A tag that is put on pairs, or taken off."""

    cases: list[Id] = Field(min_length=1, max_length=200, description="ids of cases of the build")
    tag: str = Field(max_length=40, description="a known tag, see docs/api.md")
    remove: bool = False


class AssignIn(Body):
    """An expert who is to review pairs, or need not any more."""

    cases: list[Id] = Field(min_length=1, max_length=200, description="ids of cases of the build")
    expert: CleanText = Field(max_length=150, description="name of the account")
    remove: bool = False


class ShareIn(Body):
    """Pairs that are shared out among experts; the same seed shares them in the same way."""

    filters: str = Field("", max_length=LONGEST_FILTERS, description=FILTERS)
    experts: list[CleanText] = Field(min_length=1, max_length=100, description="names of the accounts")
    overlap: int = Field(1, ge=1, le=20, description="experts for each pair")
    seed: int = Field(1, ge=0, le=999_999)


class ListChanged(Schema):
    """What a change of the list did."""

    changed: int = Field(description="tags or assignments that are new, or ended")


class SharedOut(Schema):
    """What was shared out."""

    pairs: int
    assignments: int = Field(description="that are new")


class ListUndone(Schema):
    """What was undone."""

    undone: str


class SavedListIn(Body):
    """Filters that are kept by a name."""

    name: CleanText = Field(min_length=1, max_length=80)
    filters: str = Field("", max_length=LONGEST_FILTERS, description=FILTERS)
    shared: bool = Field(False, description="all reviewers see it")


class SavedListOut(RowSchema):
    """A list that somebody keeps."""

    id: int
    name: str
    filters: str = Field(validation_alias="query")
    shared: bool
    user: str = Field(validation_alias="user.username")
    created_at: datetime


class ListDeleted(Schema):
    """Whether there was such a list of one's own."""

    deleted: bool
