"""What the API says of a build's drift check. Plain data, as in `schemas`."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from ninja import Schema
from pydantic import Field

from annotation.schemas.shared.fields import Dollars
from retrieval.schemas import Paging, RowSchema, TextHead

DriftMove = Literal["agreed", "higher", "lower", "judged_once"]


class DriftCheckOut(Schema):
    """All pairs asked once more, or twice where it is the baseline. Counts are of pairs."""

    number: int
    is_baseline: bool
    settled: int = Field(description="settled cases of the build when it began")
    began_at: datetime
    finished_at: datetime | None = Field(description="null while it is asked; the figures are 0 until then")
    agreed: int = Field(description="the same verdict as at first")
    higher: int
    lower: int
    judged_once: int = Field(description="a verdict at one of both times alone")
    odd_ones: int = Field(description="exactly one of three answers differs from both others")
    new_odd_ones: int = Field(description="those where the odd answer is the new one: a third, by chance")
    p_value: float | None = Field(description="null for a baseline")
    level: float | None = Field(description="below this p-value it is a shift")
    shifted: bool
    cost: Dollars = Field(description="dollars, of all its calls")


class DriftAnswerOut(Schema):
    """One answer about a pair."""

    verdict: float | None = Field(description="1 match, 0.5 unclear, 0 no match; null: none could be read")
    explanation: str = Field(description="the model's explanation, or why there is no verdict")


class DriftPairOut(RowSchema):
    """One of the fixed pairs: what the model said at first, and in the check that was asked for."""

    check: int = Field(description="number of that check")
    place: int = Field(description="from 1, as the pairs were drawn")
    case: int = Field(validation_alias="case.pk")
    pair: int = Field(validation_alias="case.pair_id")
    query: TextHead = Field(validation_alias="case.pair.query")
    function: TextHead = Field(validation_alias="case.pair.snippet")
    label: int | None = Field(description="of the case; null without one", validation_alias="case.label")
    first: DriftAnswerOut = Field(description="the baseline's first answer")
    again: DriftAnswerOut | None = Field(
        description="the baseline's second answer; null where that is what `now` tells"
    )
    now: DriftAnswerOut
    moved: DriftMove = Field(
        description="from `first` to `now`; unlike: a verdict at one of both times alone",
        validation_alias="move",
    )


class DriftPairsPage(Paging):
    """Which pairs of which check."""

    check: int | None = Field(
        None, ge=0, le=2**31 - 1, description="number of a finished check; without one, the latest"
    )
    moved: DriftMove | None = Field(None, description="only pairs that moved so")


class DriftOut(RowSchema):
    """A build's drift check."""

    every: int = Field(description="settled cases between two checks")
    seed: int
    pairs: list[int] = Field(
        description="the cases whose pairs are asked; empty until they are drawn", validation_alias="drawn"
    )
    max_checks: int = Field(description="so many checks the whole build can have")
    calls: int
    spent: Dollars = Field(description="dollars; part of what the build has spent")
    checks: list[DriftCheckOut] = Field(description="the newest first")
