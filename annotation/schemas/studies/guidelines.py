"""What the API takes and says of guidelines."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from ninja import Schema
from pydantic import Field

from annotation.schemas.shared.fields import Body, CleanText, Ref
from retrieval.schemas import Paging, RowSchema

GuidelineChange = Literal["first", "wording", "meaning"]


class WorkedCase(Body):
    """A query and a function with the right label, and why."""

    query: CleanText = Field(max_length=10_000)
    code: CleanText = Field(max_length=10_000)
    value: CleanText = Field(max_length=20, description="the label")
    why: CleanText = Field("", max_length=10_000)


class GuidelineIn(Body):
    """A version as it is written; versions are never changed."""

    name: CleanText = Field(min_length=1, max_length=80)
    text: CleanText = Field(min_length=1, max_length=100_000, description="Markdown")
    change: GuidelineChange = Field(
        "first", description="of a next version: wording = labels stay, meaning = some may be different now"
    )
    note: CleanText = Field("", max_length=2_000, description="of a next version: what is different")
    worked_cases: list[WorkedCase] = Field(default_factory=list, max_length=100)
    seen_version: int = Field(0, ge=0, le=10**9, description="the version before it; 0 = there is none")


class GuidelinePage(Paging):
    """Which guidelines of the list."""

    name: CleanText | None = Field(None, description="exactly this name: all its versions")


class GuidelineOut(RowSchema):
    """One version of guidelines."""

    id: int
    name: str
    version: int
    change: GuidelineChange
    note: str
    created_by: str | None = Field(validation_alias="created_by.username")
    created_at: datetime


class GuidelineDetail(GuidelineOut):
    """The same with its text."""

    text: str
    worked_cases: list[dict[str, str]]


class BuildGuidelineIn(Body):
    """What reviewers of a build read."""

    guideline: Ref | None = Field(description="name, `name@version` or id; null = the published rule")
    reason: CleanText = Field(min_length=1, max_length=1000, description="kept in the history")


class BuildGuidelineOut(Schema):
    """What reviewers of a build read now."""

    guideline: GuidelineOut | None = Field(description="null = the published rule")
    changed: bool
