"""What the API takes and says of queries without a match and of the functions written for them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from ninja import Schema
from pydantic import Field

from annotation.schemas.shared.estimates import EstimateOut
from annotation.schemas.shared.fields import Body, CleanText, Provider, Unconfirmed
from retrieval.schemas import Paging, RowSchema, TextHead

ProposalState = Literal["writing", "written", "failed", "replaced", "accepted", "edited", "rejected"]


class MissingOut(RowSchema):
    """How the queries of a build stand, in numbers of queries."""

    queries: int
    matched: int
    without: int = Field(description="every candidate was judged, none matches, nothing is written for it")
    unjudged: int = Field(description="no match, but candidates were abandoned: nobody knows")
    open: int = Field(description="no match yet, candidates are still to be judged")
    covered: int = Field(description="no match, but a function was or is being written")
    jobs: list[int] = Field(description="builds that write functions for this one, the newest first")


class FillIn(Body):
    """An order for functions. The job is a build: its budget and its history are at `/api/builds/{id}`."""

    name: CleanText = Field(min_length=1, max_length=120)
    provider: Provider = "exchange"
    model: CleanText = Field("any", max_length=120)
    budget: Decimal | None = Field(None, ge=0, description="dollars; null = no cap")
    unpriced: bool = Field(False, description="ask live although no price is entered")
    unjudged: bool = Field(False, description="also queries of which some candidates could not be judged")
    tries: int = Field(2, ge=1, le=5, description="functions a query at most, while the agents deny them")
    limit: int | None = Field(None, ge=1, le=1_000_000, description="queries at most, drawn at random")
    at_once: CleanText = Field(
        "", max_length=400, description="why a large live job does without a smaller one before it"
    )
    reason: CleanText = Field("", max_length=1000, description="why it is ordered; kept in the job's history")


class FillLaunch(FillIn):
    """The same, and on which estimate."""

    estimate: str = Field("", max_length=20_000, description="`confirm` of the estimate; a live job needs it")
    unconfirmed: Unconfirmed = False


class FillEstimate(EstimateOut):
    """What an order for functions would take. Nothing is ordered yet."""

    queries: int = Field(description="that a function would be written for")


class ProposalPage(Paging):
    waiting: bool = Field(False, description="only those that wait for an expert")


class ProposalOut(RowSchema):
    """One function written for one query."""

    id: int
    query: TextHead
    number: int = Field(description="1 for the query's first function")
    state: ProposalState
    waits: bool = Field(description="checked, and waits for an expert")
    unjudged: bool = Field(description="some candidates of its query could not be judged")
    agent_label: int | None = Field(description="what the agents said of it")
    case: int | None = Field(description="the case that checked it", validation_alias="case_id")
    failure: str = Field(description="why it could not be written or judged")
    seen_revision: int = Field(description="send it back with a decision", validation_alias="revision")


class FunctionDecisionOut(RowSchema):
    """One decision; the last one stands."""

    revision: int
    action: Literal["accept", "edit", "reject", "undo"]
    user: str = Field(validation_alias="user.username")
    reason: str
    agent_label: int | None
    code: str | None = Field(description="what was accepted")
    label: int | None = Field(description="id of the label that follows from it", validation_alias="label_id")
    test_of_edit: str | None = Field(description="outcome of the test with an edited function")
    at: datetime


class ProposalDetail(ProposalOut):
    """A function with all that an expert decides by."""

    code: str | None
    explanation: str
    packages: list[str]
    test_program: str | None
    report: dict[str, Any] | None = Field(description="of the test's run: outcome, assertions, output, trace")
    verdict: str = Field(description="what the agents said last")
    decisions: list[FunctionDecisionOut]


class FunctionDecisionIn(Body):
    """Accept, accept with changes, or reject."""

    action: Literal["accept", "edit", "reject"]
    reason: CleanText = Field("", max_length=10_000, description="needed to accept what the agents denied")
    code: CleanText = Field("", max_length=65_536, description="the whole function, where it is edited")
    seen_revision: int = Field(ge=0, le=2**31 - 1, description="`seen_revision` of the function")


class TakeBackIn(Body):
    """The standing decision is taken back, if nobody was faster."""

    seen_revision: int = Field(ge=1, le=2**31 - 1)
    reason: CleanText = Field("", max_length=10_000)


class WrittenOut(Schema):
    """An accepted function with where it came from."""

    query: str
    code: str
    label: int
    provenance: dict[str, Any]


class EditRunIn(Body):
    """An edit of a written function, to be tried before it is accepted."""

    code: CleanText = Field(min_length=1, max_length=200_000)


class WrittenAgain(Schema):
    """How many functions are written again."""

    functions: int
