"""What the API says of a build's drift check. Plain data, as in `schemas`."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from ninja import Schema
from pydantic import Field


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
    unlike: int = Field(description="a verdict at one of both times alone")
    apart: int = Field(description="exactly one of three answers differs from both others")
    odd: int = Field(description="of them, those where it is the new answer: a third, by chance")
    p_value: float | None = Field(description="null for a baseline")
    level: float | None = Field(description="below this p-value it is a shift")
    shifted: bool
    cost: Decimal = Field(description="dollars, of all its calls")


class DriftOut(Schema):
    """A build's drift check."""

    every: int = Field(description="settled cases between two checks")
    seed: int
    pairs: list[int] = Field(description="the cases whose pairs are asked; empty until they are drawn")
    most: int = Field(description="so many checks the whole build can have")
    calls: int
    spent: Decimal = Field(description="dollars; part of what the build has spent")
    checks: list[DriftCheckOut] = Field(description="the newest first")
