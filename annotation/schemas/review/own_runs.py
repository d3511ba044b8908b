"""What the API takes and says of what one person runs: tests, calls, the strength of a test."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from ninja import Schema
from pydantic import Field

from annotation.schemas.shared.fields import Body, CleanText
from retrieval.schemas import Id, RowSchema
from sandbox.reports.report import Outcome

RequestState = Literal["waiting", "running", "done", "failed"]
LONGEST_SOURCE = 64 * 1024


class RunTestIn(Body):
    """A test program that is run: a known one again, or one of your own."""

    program: Id | None = Field(None, description="id of a program of the pair; null = the case's own")
    source: CleanText | None = Field(
        None, max_length=LONGEST_SOURCE, description="your own test; `program` is then what it was made of"
    )


class OwnTestIn(Body):
    """A test program of your own."""

    source: CleanText = Field(min_length=1, max_length=LONGEST_SOURCE)
    side: Literal["", "left", "right"] = Field("", description="of two functions, which one")


class CallIn(Body):
    """An expression that is evaluated beside the function."""

    expression: CleanText = Field(min_length=1, max_length=4_000)


class SideCallIn(CallIn):
    """The same in a study."""

    side: Literal["", "left", "right"] = Field("", description="of two functions, which one")


class OwnRunOut(RowSchema):
    """A run of a test that somebody asked for; a worker carries it out."""

    id: int
    state: RequestState
    message: str = Field(description="why it could not be run")
    program: int = Field(validation_alias="program_id")
    execution: int | None = Field(
        description="in plain review `/api/executions/{id}` has all of it", validation_alias="execution_id"
    )
    outcome: Outcome | None
    report: dict[str, Any] | None = Field(description="assertions, output, trace, exception; null = not yet")
    created_at: datetime


class OwnCallOut(RowSchema):
    """A call of a function that somebody asked for; a worker carries it out."""

    id: int
    expression: str
    state: RequestState
    message: str = Field(description="why it could not be run")
    answer: dict[str, Any] | None = Field(description="outcome, value and its type, exception, output")
    created_at: datetime


class StrengthOut(Schema):
    """How many planted bugs of its function a test notices."""

    program: int
    asked: bool = Field(description="whether anybody has asked for it")
    open: int = Field(description="runs that are still to come")
    tried: int = Field(description="bugs of which it is known")
    caught: int


class CrossingTestOut(Schema):
    """One test and how it ended beside each function."""

    program: int
    outcomes: list[Outcome | None] = Field(description="null = not known")
    mark: Literal["wrong", "empty"] | None = Field(
        description="wrong: every match fails it; empty: every function passes it"
    )


class CrossingOut(Schema):
    """A query's tests beside all of its functions."""

    functions: list[int] = Field(description="ids of pairs' functions, in the order of the cells")
    tests: list[CrossingTestOut]
    missing: int = Field(description="runs that nobody has asked for")
    open: int = Field(description="runs that are still to come")
    left_out_tests: int
    left_out_functions: int
