"""What the API takes and says of a rater's own part of a study."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from ninja import Schema
from pydantic import Field

from annotation.schemas.shared.fields import Body, CleanText
from retrieval.schemas import RowSchema

Token = Field(max_length=32, description="`token` of the assignment")


class SideOut(Schema):
    """A function as the study shows it."""

    name: str = Field(description="left or right; empty where there is one function")
    code: str
    docstrings: list[str] = Field(description="those that the study folds")
    numbers: list[int] = Field(description="of each line of `code`, with docstrings that are not shown")
    origin: str = Field(
        description="link to where it comes from; empty = none is stored, or the plan hides it"
    )


class AssignmentOut(RowSchema):
    """A pair that was handed to the caller."""

    study: int = Field(validation_alias="enrolment.study_id")
    number: int = Field(description="of the pair, in the study", validation_alias="study_pair.number")
    state: str = Field(description="reserved, locked, done, skipped, lapsed or left_out")
    phase: str = Field(description="of a rating given now: blind, revised or second_look")
    round: int
    position: int = Field(description="in the caller's own order, from 1")
    token: str = Field(description="send it back with what you say")
    reserved_until: datetime
    seen_revision: int = Field(description="send it back with a rating")
    evidence: str = Field(description="sha256 of what is shown; send it back with a rating")
    choices: list[str] = Field(description="what a rating may choose")
    needs_run: bool = Field(
        description="a label needs a finished run of your own test, or `no_test`: why none is possible"
    )
    query: str = Field(validation_alias="study_pair.pair.query.text")
    sides: list[SideOut]
    drafts: dict[str, str] = Field(description="what was typed and not sent, by field")
    draft_revisions: dict[str, str] = Field(description="the revision of each draft, by field")


class PartOut(RowSchema):
    """The caller's part in a study: what is read before the first pair, and how far it is."""

    study: int
    name: str
    state: str
    question: str
    information: str = Field(description="what raters read about the study; empty = nothing")
    asks_profile: bool
    guideline: int | None = Field(description="id of the version that holds now")
    guideline_text: str
    code_languages: list[str] = Field(
        description="programming languages of the pairs, to choose from; empty = there is no choice"
    )
    chosen_code_languages: list[str] = Field(description="those you are given pairs of; empty = all")
    wanted: list[str] = Field(description="what is still to be done: accept the information, read guidelines")
    done: int
    left: int
    finished: bool


class JoinIn(Body):
    """The caller has read the information and the guidelines, and takes part."""

    guideline: int | None = Field(None, description="id of the version that was read; null = there is none")
    years: CleanText = Field("", max_length=3, description="of experience with Python, where it is asked")
    occupation: CleanText = Field("", max_length=200)
    languages: CleanText = Field("", max_length=200)
    code_languages: list[CleanText] | None = Field(
        None,
        max_length=20,
        description="of those that the study offers: you only get pairs of these; null = as it is",
    )


class NextOut(Schema):
    """The open pair, or nothing."""

    assignment: AssignmentOut | None = Field(description="null: nothing is left, or nothing is free now")
    finished: bool = Field(description="your part of the study is over")


class RatingIn(Body):
    """What a rater says of a pair."""

    token: str = Token
    choice: str = Field(max_length=20, description="one of the assignment's `choices`")
    reason: CleanText = Field("", max_length=10_000, description="needed where a locked label is revised")
    notes: CleanText = Field("", max_length=10_000)
    reading: CleanText = Field("", max_length=300, description="how you read the query, in one line")
    tags: list[str] = Field([], max_length=20)
    lines: str = Field(
        "", max_length=20, description="lines of the function that are the reason: `4-7`, or `4` for one"
    )
    no_test: CleanText = Field(
        "", max_length=10_000, description="why no test is possible, where `needs_run` and nothing has run"
    )
    seconds: float = Field(0, ge=0, description="of active time on the pair")
    evidence: str = Field(pattern="^[0-9a-f]{64}$", description="`evidence` of the assignment")
    seen_revision: int = Field(ge=0, le=2**31 - 1, description="`seen_revision` of the assignment")


class RatingOut(RowSchema):
    """One revision of the caller's rating of a pair."""

    number: int = Field(
        description="of the pair, in the study", validation_alias="assignment.study_pair.number"
    )
    phase: str
    revision: int
    choice: str
    withdrawn: bool
    reason: str
    notes: str
    reading: str
    no_test: str = Field(description="why no test is possible, where the plan asks for a run")
    tags: list[str]
    lines: str = Field(
        validation_alias="marked_lines", description="lines marked as the reason: `4-7`, `4`, or empty"
    )
    seconds: float
    created_at: datetime
    undoes: str = Field(description="names it to undo, while it is current")


class SkipIn(Body):
    """Why a pair is skipped."""

    token: str = Token
    reason: CleanText = Field(min_length=1, max_length=2_000)


class HoldIn(Body):
    """The pair is still being looked at."""

    token: str = Token


class HeldOut(Schema):
    """Until when the pair is held."""

    reserved_until: datetime


class DraftIn(Body):
    """What is being typed."""

    field: Literal["notes", "reason", "test", "call", "choice", "reading", "lines", "no_test", "skip"]
    text: CleanText = Field(max_length=65_536, description="empty: the draft is cleared")
    seen: str | None = Field(
        default=None,
        max_length=40,
        description="the revision that you know, empty for none: 409 where the stored text differs; "
        "without it the stored text is overwritten",
    )
