"""What the API takes and says of comments on pairs, and of flags for admins."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from annotation.schemas.shared.fields import Body, CleanText
from retrieval.schemas import RowSchema

LONGEST_COMMENT = 5_000


class CommentIn(Body):
    """A comment; `@name` tells an expert or an admin of it."""

    text: CleanText = Field(min_length=1, max_length=LONGEST_COMMENT)
    flag: bool = Field(False, description="ask an admin to look at the pair")


class AnswerIn(Body):
    """The answer that closes a flag."""

    text: CleanText = Field(min_length=1, max_length=LONGEST_COMMENT)


class CommentOut(RowSchema):
    """A comment, a flag or the answer to one."""

    id: int
    pair: int = Field(validation_alias="pair_id")
    case: int = Field(validation_alias="case_id")
    kind: Literal["comment", "flag", "answer"]
    author: str = Field(validation_alias="author.username")
    text: str
    answers: int | None = Field(description="id of the flag that it answers", validation_alias="answers_id")
    created_at: datetime


class CommentPosted(CommentOut):
    """A new comment, and who is told of it."""

    told: list[str]
    unknown: list[str] = Field(description="names in it that are no expert's or admin's")
