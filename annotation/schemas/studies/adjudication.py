"""What the API takes and says of decisions where raters split, and of precedents. Plain data."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from ninja import Schema
from pydantic import Field

from annotation.schemas.shared.fields import Body, CleanText
from retrieval.schemas import Paging, RowSchema

CauseName = Literal["query", "slip", "guideline", "code", "test"]


class DecisionIn(Body):
    """Decide on a pair whose raters have no strict majority."""

    value: int | None = Field(ge=-1, le=3, description="on the study's scale; null: it can't be decided")
    cause: CauseName = Field(description="why raters split")
    note: CleanText = Field(min_length=1, max_length=10_000)
    precedent: bool = Field(False, description="keep it for similar cases")
    lines: str = Field(
        "", max_length=20, description="lines of the function that are the reason: `4-7`, or `4` for one"
    )
    seen: int = Field(ge=0, le=2**63 - 1, description="`id` of the current decision; 0 = none yet")


class DecisionOut(RowSchema):
    """One decision; the ratings stay what they are."""

    id: int
    value: int | None
    cause: str
    note: str
    lines: str = Field(
        validation_alias="marked_lines", description="lines marked as the reason: `4-7`, `4`, or empty"
    )
    supersedes: int | None = Field(validation_alias="supersedes_id")
    by: str = Field(validation_alias="by.username")
    at: datetime


class SplitOut(Schema):
    """A pair whose planned raters gave no value by a strict majority."""

    number: int = Field(description="of the pair, in the study")
    condition: int
    votes: list[int | None] = Field(description="by pseudonym; null is unsure")
    agreement: float = Field(description="the share of pairs of raters that agree, 0 to 1")
    decision: DecisionOut | None = Field(description="null: it waits")


class SplitPage(Paging):
    """Which pairs on which raters split."""

    state: Literal["waiting", "decided"] | None = Field(None, description="null = both")


class PrecedentOut(RowSchema):
    """A decision on a hard case."""

    id: int
    guidelines: str = Field(validation_alias="guideline_name")
    query: str
    code: str
    value: int | None
    reason: str
    tags: list[str]
    by: str = Field(validation_alias="created_by.username")
    at: datetime = Field(validation_alias="created_at")
