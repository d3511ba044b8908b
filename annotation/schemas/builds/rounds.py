"""What the API says of the rounds of a build, and of their merges. Plain data, as in `schemas`."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from ninja import Schema
from pydantic import Field

from annotation.schemas.shared.fields import Body, Dollars
from retrieval.schemas import RowSchema

RuleName = Literal["majority", "unanimous", "any_match", "all_match"]


class MergeIn(Body):
    """Merge the rounds of a build."""

    rule: RuleName


class MergeOut(RowSchema):
    """A merge and how far it is."""

    id: int
    rule: str
    annotator: str = Field(
        description="version of the annotator that the labels belong to", validation_alias="annotator.version"
    )
    asked_by: str | None = Field(validation_alias="asked_by.username")
    asked_at: datetime
    finished_at: datetime | None
    pairs: int = Field(description="looked at so far")
    new_or_changed: int = Field(description="labels that are new, or other than before")
    withdrawn: int = Field(description="labels that the rule gives no more")


class FigureOut(Schema):
    """A statistic with its 95 % interval, from resampling whole queries."""

    value: float | None = Field(description="null where it is not defined")
    low: float | None
    high: float | None
    undefined: float = Field(description="share of the resamples without a value; above 0.05 no interval")


class AgreementOut(Schema):
    """How far rounds agree over the pairs that at least two of them judged."""

    pairs: int
    queries: int
    alpha: FigureOut = Field(description="Krippendorff's, nominal")
    alike: FigureOut = Field(description="share of the pairs to which all rounds that judged gave one label")


class RoundOut(RowSchema):
    """One round. Calls are those that its verdicts rest on, whoever paid them."""

    number: int
    cases: int
    settled: int
    matches: int
    abandoned: int
    screened: int
    unclear: int
    calls: int
    dollars: Dollars = Field(validation_alias="cost")


class RoundVotesOut(Schema):
    """So many pairs of which so many rounds said this; the other rounds did not judge them."""

    matches: int
    no_matches: int
    pairs: int


class MergeOutlookOut(RowSchema):
    """What a rule would make of the rounds."""

    rule: RuleName
    words: str
    matches: int
    no_matches: int
    unjudged: int


class RoundsOut(RowSchema):
    """The rounds of a build beside each other."""

    build: int
    pairs: int
    parted: int = Field(description="pairs to which two rounds gave different labels")
    rounds: list[RoundOut]
    said: list[RoundVotesOut]
    agreement: AgreementOut | None = Field(description="null where no pair was judged twice")
    rules: list[MergeOutlookOut]
    merges: list[MergeOut] = Field(description="the newest first, at most 50")
