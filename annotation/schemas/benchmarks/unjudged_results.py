"""What the API takes and says of the unjudged results of a run, which agents or experts judge."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from pydantic import Field

from annotation.schemas.shared.estimates import EstimateOut
from annotation.schemas.shared.fields import Body, BuildState, CleanText, Provider, Ref, Unconfirmed
from retrieval.schemas import RowSchema


class UnjudgedIn(Body):
    """Whose unjudged results, and who answers for the agents."""

    run: Ref = Field(description="id of a run of the benchmark, or its system: the newest run of that name")
    depth: int = Field(10, ge=1, le=1000, description="first results of each query")
    name: CleanText | None = Field(
        None, min_length=1, max_length=120, description="of the new build; null = the benchmark's and filled"
    )
    like: Ref | None = Field(None, description="the build whose annotator judges; null = the usual agents")
    provider: Provider = "exchange"
    model: CleanText = Field("any", max_length=120)
    budget: Decimal | None = Field(None, ge=0, description="dollars; null = no cap")
    unpriced: bool = Field(False, description="ask live although no price is entered")
    reason: CleanText = Field("", max_length=1000, description="kept in the history")


class UnjudgedOrder(UnjudgedIn):
    """The same, and on which estimate."""

    estimate: str = Field("", max_length=20_000, description="`confirm` of the estimate; live = required")
    unconfirmed: Unconfirmed = False
    skip_canary: CleanText = Field(
        "", max_length=400, description="why a large live one may ask for all pairs at once"
    )


class UnjudgedEstimate(EstimateOut):
    """What judging the unjudged results would take. Nothing is made yet."""

    unjudged: int = Field(description="results of the run without a label")


class UnjudgedPublishIn(Body):
    """Which build's verdicts become the benchmark's next version."""

    build: Ref


class UnjudgedBuildOut(RowSchema):
    """A build, or an experts' queue, over the unjudged results of a run."""

    id: int
    name: str
    state: BuildState
    run: int = Field(validation_alias="mining.holes.run_id")
    system: str = Field(validation_alias="mining.holes.run.system")
    pairs: int = Field(validation_alias="mining.holes.pairs")
    experts: bool = Field(description="people judge them, no agents", validation_alias="mining.holes.people")
    created_at: datetime
