"""What the API says of estimates. Plain data, as in `schemas`."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Literal

from ninja import Schema
from pydantic import Field

from retrieval.schemas import RowSchema


class RangeOut(Schema):
    """What something takes at the least, probably, and at the most."""

    low: Decimal
    expected: Decimal
    high: Decimal


class StageOut(Schema):
    """What one stage takes, all of its calls together."""

    stage: str
    calls: RangeOut
    input_tokens: RangeOut
    output_tokens: RangeOut
    dollars: RangeOut | None = Field(description="null where the price is not known")


class BasisOut(Schema):
    """One figure that an estimate rests on, and where it comes from."""

    what: str
    figure: str
    source: Literal["counted", "measured", "paper", "assumed"]
    note: str


class PriceOut(Schema):
    """The price that was used, in dollars per million tokens."""

    model: str
    effective_from: datetime
    input: Decimal
    output: Decimal
    note: str
    source: str = Field(description="where a shipped price was read; empty where a person entered it")


class EstimateFigures(RowSchema):
    """What a build was, or is, expected to take."""

    pairs: int = Field(description="queries × candidates, or the limit")
    rounds: int = Field(description="how often each pair is judged")
    stages: list[StageOut]
    total: StageOut
    price: PriceOut | None = Field(description="null where the price is not known")
    basis: list[BasisOut] = Field(description="what the estimate rests on")
    made_at: datetime


class EstimateOut(EstimateFigures):
    """What a build would take. Nothing is made yet."""

    confirm: str = Field(description="send it as `estimate` to launch on this; it holds for a day")
