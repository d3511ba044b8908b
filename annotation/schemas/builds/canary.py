"""What the API says of what a canary measured."""

from __future__ import annotations

from datetime import datetime

from ninja import Schema
from pydantic import Field

from annotation.schemas.shared.fields import Dollars
from retrieval.schemas import RowSchema


class ShareOut(Schema):
    """`part` of `whole` with its 95 % interval (Wilson, or by whole queries); null where `whole` is 0."""

    part: int
    whole: int
    value: float | None
    low: float | None
    high: float | None


class MeanOut(Schema):
    """Dollars; the ends of the 95 % interval are null where there is none."""

    value: Dollars | None
    low: Dollars | None
    high: Dollars | None


class MeasuresOut(Schema):
    """How finished pairs came out."""

    finished: int
    units: int = Field(description="what the intervals rest on: pairs, or queries that were drawn whole")
    cost: MeanOut | None = Field(description="dollars a pair; bootstrap over the canary's units")
    unclear: ShareOut = Field(description="of the screened pairs")
    executable: ShareOut = Field(description="of the test programs")
    matches: ShareOut = Field(description="of the settled pairs")
    abandoned: ShareOut = Field(description="of the finished pairs")
    refused: ShareOut = Field(description="of the finished pairs: the model declined; abandoned too")


class CanaryOut(RowSchema):
    """The random pairs that a large build, or a large extension of one, begins with."""

    pairs: int = Field(description="of the whole build, or new ones of the extension")
    cases: int = Field(description="pairs drawn")
    seed: int
    waits_for_decision: bool = Field(
        description="done: go_on, or cancel the build; an extension: or leave its other pairs"
    )
    done_at: datetime | None
    decided_at: datetime | None = Field(description="when somebody continued the build, or left the rest")
    decided_by: str | None = Field(validation_alias="decided_by.username")
    measures: MeasuresOut
    projected_total: MeanOut | None = Field(description="dollars for all pairs")
    compared_with: int | None = Field(
        description="id of the last finished build, rather of the same model; of an extension: its own build"
    )
    compared_measures: MeasuresOut | None
