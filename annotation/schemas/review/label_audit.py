"""What the API says of an audit of given pairs."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field

from annotation.schemas.builds.builds import GivenOut
from retrieval.schemas import Paging, RowSchema, TextHead

ExpertsSay: TypeAlias = Literal["1", "0", "few", "none"]
Said: TypeAlias = Literal["1", "0", "abandoned", "open"]
How: TypeAlias = Literal["screener", "tested", "alone", "abandoned", "open"]


class AuditRateOut(RowSchema):
    """A share of pairs, with a 95 % interval that resamples queries."""

    what: Literal["upheld", "unjudged"]
    original: int | None = Field(description="of labels 1 or 0 that the pairs came with; null = of any")
    by: str = Field(
        description="screener, tested, alone, experts: who settled them; or why not judged; empty = any"
    )
    part: int = Field(validation_alias="share.part")
    whole: int = Field(validation_alias="share.whole")
    value: float = Field(validation_alias="share.value")
    low: float | None = Field(validation_alias="share.low")
    high: float | None = Field(validation_alias="share.high")


class AuditCellOut(RowSchema):
    """How many pairs have this original label, of which the build says this, and experts that."""

    original: int | None = Field(description="null: the pair came without a label")
    said: Said
    experts: ExpertsSay = Field(description="few: reviewed, but too few reviews agree and no study decided")
    pairs: int


class AuditBuildOut(RowSchema):
    """The figures of one of the builds that judge the pairs."""

    build: int = Field(validation_alias="pk")
    name: str
    state: str
    cells: list[AuditCellOut]
    rates: list[AuditRateOut]


class AuditOut(RowSchema):
    """An audit of given pairs: the labels that they came with beside builds and experts."""

    pair_list: GivenOut = Field(validation_alias="given")
    pairs: int
    queries: int
    builds: list[AuditBuildOut] = Field(description="the one that was asked for first")
    left_out: list[str] = Field(description="sealed studies whose labels are left out")


class AuditVerdictOut(RowSchema):
    """What a build says of a pair."""

    build: int
    case: int
    label: int | None
    how: How
    cause: str = Field(description="why it could not be judged")


class AuditPairOut(RowSchema):
    """A pair with its original label, what builds say, and what experts say."""

    pair: int
    query: TextHead
    function: TextHead
    original: int | None
    builds: list[AuditVerdictOut]
    experts: ExpertsSay
    differs: bool = Field(description="not all that was said of it is the same")


class AuditPaging(Paging):
    """Which pairs: those that differ come first."""

    original: Literal["1", "0", "none"] | None = None
    said: Literal["1", "0", "abandoned", "open"] | None = None
    how: Literal["screener", "tested", "alone"] | None = None
    experts: Literal["1", "0", "few", "none"] | None = None
    differs: Literal["yes", "no"] | None = None
