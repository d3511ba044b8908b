"""What the API takes and says of extensions, and of cases that are run again."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from ninja import Schema
from pydantic import AliasChoices, ConfigDict, Field

from annotation.schemas.builds.builds import AskedOut
from annotation.schemas.builds.canary import MeanOut, ShareOut
from annotation.schemas.shared.estimates import EstimateOut, RangeOut
from annotation.schemas.shared.fields import Body, CleanObject, CleanText, Dollars, Provider, Unconfirmed
from retrieval.schemas import Id, RowSchema

ExtensionState = Literal["mining", "canary", "opened", "left", "cancelled", "failed"]


class ExtensionWish(Body):
    """What to add to a build. What is left out stays as it is."""

    model_config = ConfigDict(frozen=True)

    k: int | None = Field(default=None, ge=1, le=1000, description="candidates a query; can only grow")
    queries: int = Field(default=0, ge=0, description="so many more, drawn from those not in the build")
    seed: int = Field(default=1, ge=0, lt=2**31, description="of the draw")
    newer: bool = Field(default=False, description="also functions that were added to the collection since")


class ExtendIn(ExtensionWish):
    """What to add, why, and on which estimate."""

    reason: CleanText = Field(min_length=1, max_length=1000, description="kept in the history")
    estimate: str = Field(
        "", max_length=20_000, description="`confirm` of the estimate; a live build needs it"
    )
    unconfirmed: Unconfirmed = False
    skip_canary: CleanText = Field(
        "",
        max_length=400,
        description="why a large live one may ask for all pairs at once; empty = its canary comes first",
    )


class CancelIn(Body):
    """Why an extension is taken back."""

    reason: CleanText = Field(
        "",
        max_length=1000,
        validation_alias=AliasChoices("reason", "note"),
        description="kept in the history",
    )


class ExtensionOut(RowSchema):
    """An extension of a build."""

    number: int
    description: str = Field(description="what was asked for")
    state: ExtensionState
    mining: int = Field(description="id of its own mining", validation_alias="mining_id")
    asked: list[AskedOut] = Field(description="what that mining's encoders on servers were asked")
    k: int = Field(validation_alias="mining.k")
    seed: int | None = Field(validation_alias="mining.seed")
    pairs: int | None = Field(description="new ones that have become cases; null until they are mined")
    user: str | None = Field(validation_alias="user.username")
    reason: str
    at: datetime
    ended_at: datetime | None


class ChanceOut(Schema):
    """How many of the settled pairs at a rank are matches."""

    rank: int
    matches: ShareOut


class NextRankOut(RowSchema):
    """One more candidate for each query; money in dollars."""

    rank: int
    queries: int
    cost_per_pair: Dollars = Field(validation_alias="a_pair")
    total: Dollars
    chance: ShareOut = Field(description="of a match, at the last rank there is")
    cost_per_match: MeanOut | None = Field(
        description="cost of a match; null where none was found there", validation_alias="a_match"
    )


class ExtensionsOut(Schema):
    """What a decision about more pairs rests on, and the extensions so far."""

    refused: str = Field(description="why the build can't be extended now; empty where it can")
    chances: list[ChanceOut]
    next: NextRankOut | None = Field(description="null before any pair is settled")
    extensions: list[ExtensionOut]


class ExtensionEstimate(EstimateOut):
    """What an extension would take. Nothing is made yet."""

    description: str
    new_pairs: RangeOut = Field(description="known, unless functions were added")
    canary: int = Field(description="so many cases go first, then the build waits for `go_on`; 0 = no canary")


class AgainIn(Body):
    """Which cases to run again, from where, and what differs. null = as in the build."""

    name: CleanText = Field(max_length=120, description="of the new build")
    start: Literal["screening", "reading", "writing_test", "executing", "arbitrating", "tie_breaking"] = (
        Field(description="run this stage and all later ones again")
    )
    spot_check: bool = Field(
        False,
        description="read and test pairs that the screener found clear, to see how often it errs; "
        "begins at reading",
    )
    sample: int | None = Field(
        None, ge=1, le=100_000, description="so many of the cases, drawn by `seed`; null = all"
    )
    seed: int = Field(1, ge=0, lt=2**31)
    cases: list[Id] = Field(
        default_factory=list, max_length=1000, description="their ids; empty = by what follows"
    )
    where: CleanText = Field(
        "",
        max_length=1000,
        description="filters of the page of cases, such as stage=settled&outcome=failed; empty = all",
    )
    flips: Id | None = Field(None, description="only those that this other build labelled differently")
    provider: Provider | None = None
    model: CleanText | None = Field(None, min_length=1, max_length=120)
    sampling: CleanObject | None = None
    fix_rounds: int | None = Field(None, ge=0, le=10)
    rewrites: int | None = Field(None, ge=0, le=5)
    second_test: bool | None = None
    fresh: bool | None = Field(
        None, description="ask again what was answered before; null = where nothing else is new"
    )
    budget: Decimal | None = Field(None, ge=0, le=1_000_000, decimal_places=6, description="dollars")
    unpriced: bool = False
    skip_canary: CleanText = Field("", max_length=400)

    def differing(self) -> dict[str, Any]:
        """What differs, by the names that the domain has for it."""
        deciding = {"reason", "estimate", "unconfirmed", "skip_canary"}
        return self.model_dump(exclude={"name", "start", "cases", "where", "flips", *deciding})


class AgainOrder(AgainIn):
    """The same, why, and on which estimate."""

    reason: CleanText = Field(min_length=1, max_length=1000, description="kept in the history")
    estimate: str = Field("", max_length=20_000, description="`confirm` of the estimate")
    unconfirmed: Unconfirmed = False


class AgainEstimate(EstimateOut):
    """What running cases again would take. Nothing is made yet."""

    chosen: int
    cases: int = Field(description="how many cases are run: all that can begin there, or the sample")
    fresh: bool = Field(description="whether what was answered before is asked again")
