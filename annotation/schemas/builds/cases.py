"""What the API takes and says of queries, candidates, cases and executions."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from ninja import Schema
from pydantic import Field

from annotation.schemas.shared.fields import CleanText, Dollars
from annotation.stages import Event, Stage
from retrieval.schemas import Id, Paging, RowSchema, TextHead
from sandbox.reports.report import Outcome, Report


class QueryPage(Paging):
    q: CleanText = Field("", max_length=200, description="only queries that contain this")


class QueryOut(Schema):
    """A query of a build and what came of its candidates."""

    query: TextHead
    candidates: int
    settled: int = Field(description="that the agents gave a label")
    matches: int = Field(description="by the agents' own label")
    matches_in_force: int = Field(description="by the label in force")
    no_matches_in_force: int
    abandoned: int


class CaseRef(RowSchema):
    id: int
    round: int = Field(description="from 1; a build may judge each pair in several rounds")
    stage: Stage
    label: int | None = Field(description="the agents' own: 1 match, 0 no match, null unjudged")
    label_in_force: int | None = Field(
        description="what counts by the build's rule, over what agents, experts and studies say"
    )


class CandidateOut(RowSchema):
    """A function that the mining proposes for a query, or that was given with it."""

    id: int
    rank: int = Field(description="from 1")
    score: float | None = Field(description="mean of the encoders' scores; null of given pairs")
    scores: dict[str, Any] = Field(description="by encoder: what entered the mean, and the raw score")
    function: TextHead = Field(validation_alias="pair.snippet")
    case: CaseRef | None = Field(description="of the first round")
    rounds: list[CaseRef] = Field(description="of all rounds")


class CasePage(Paging):
    stage: Stage | None = None
    label: Literal["1", "0", "none"] | None = Field(None, description="1 match, 0 no match, none: unjudged")
    query: Id | None = Field(None, description="id of a query's text")
    q: CleanText = Field("", max_length=200, description="only cases whose query contains this")
    differs: Literal["experts"] | None = Field(
        None, description="experts: only cases whose pair an expert labelled differently from the agents"
    )
    sort: Literal["made", "rank", "score", "stage", "label", "time", "duration"] = Field(
        "made",
        description="made: by round, query and rank; score: the highest first; stage: in their order; "
        "label: matches first; time: what changed last first; duration: the slowest first",
    )


class CaseOut(CaseRef):
    """A case, by the beginnings of its texts."""

    build: int = Field(validation_alias="build_id")
    pair: int = Field(validation_alias="pair_id")
    query: TextHead
    function: TextHead = Field(validation_alias="pair.snippet")
    rank: int
    score: float | None = Field(
        description="of its candidate: mean of the encoders' scores; null of given pairs"
    )
    reason: str = Field(description="why it was abandoned")
    outcome: Outcome | None = Field(description="how its last execution ended")
    seconds: float = Field(description="worked on it so far, without waiting; 0 where nobody timed it")
    updated_at: datetime


class StepOut(RowSchema):
    """One recorded move, with what it rests on."""

    number: int
    before: Stage
    event: Event
    after: Stage
    note: str = Field(description="what was decided, in words")
    agent: str | None
    model: str | None
    cost: Dollars | None = Field(description="dollars")
    program: int | None = Field(validation_alias="program_id")
    execution: int | None = Field(validation_alias="execution_id")
    at: datetime


class ReadingOut(Schema):
    """A sense of the query."""

    sense: str
    likelihood: int = Field(description="how many of a hundred searchers mean it")


class TestCaseOut(Schema):
    """A function of a test program that runs by itself."""

    __test__ = False  # no test class: keeps pytest from collecting it

    name: str
    reading: int = Field(description="its number, from 1")
    kind: Literal["ordinary", "edge"]
    checks: str


class ProgramOut(RowSchema):
    """A test program."""

    id: int
    source: str = Field(validation_alias="source.text")
    reading: str = Field(description="the likeliest sense of the query that it tests")
    readings: list[ReadingOut] = Field(description="all readings; empty for plain programs")
    test_cases: list[TestCaseOut] = Field(description="functions that run alone; empty = plain Python")
    helpers: list[str] = Field(description="names that the writer had to invent")
    redefines: bool = Field(description="it redefines the candidate")


class CaseDetail(CaseOut):
    """A case with its whole texts and its way through the stages."""

    query_text: str = Field(validation_alias="pair.query.text")
    code: str = Field(validation_alias="pair.snippet.text")
    left_stage: Stage | None = Field(description="the stage that it was abandoned from")
    missing_module: str
    dependencies: list[str]
    program: ProgramOut | None
    execution: int | None = Field(description="id of its last execution", validation_alias="execution_id")
    steps: list[StepOut]
    evidence: str = Field(description="hash of what a review rests on; send it with the review")
    seen_revision: int = Field(description="your last revision on this pair; send it with the review")


class ExecutionOut(RowSchema):
    """One run of a test program in the sandbox."""

    id: int
    outcome: Outcome
    ran: bool
    asserted: bool
    touched: bool
    dependencies: list[str]
    image: str
    repeat: int
    backend: str
    created_at: datetime
    report: Report
    canonical: str = Field(
        description="the report as agents read it; the arbiter also reads which lines ran and what never did"
    )
