"""What the API says of requests that wait for a reply by file, and takes as replies. Plain data."""

from __future__ import annotations

from typing import Any

from ninja import Schema
from pydantic import Field

from annotation.schemas.shared.fields import Body, CleanText
from retrieval.schemas import Paging

MOST_REPLIES = 1_000


class WaitingPage(Paging):
    limit: int = Field(20, ge=1, le=200, description="requests a page")


class PromptOut(Schema):
    """What many requests of an agent share."""

    system: str
    schema_: dict[str, Any] = Field(alias="schema", description="the JSON schema that a reply has to fit")


class MessageOut(Schema):
    role: str
    content: str


class WaitingRequest(Schema):
    """A request that waits for its reply."""

    id: str = Field(description="the reply names it")
    agent: str
    model: str
    prompt: str = Field(description="its place in `prompts`")
    messages: list[MessageOut]
    round: int = 1


class WaitingOut(Schema):
    """Requests that wait, each prompt once."""

    open: bool = Field(description="the build is not over: more requests may come when these are answered")
    waiting: int = Field(description="requests that wait, on all pages")
    prompts: dict[str, PromptOut]
    items: list[WaitingRequest]
    next: int | None = Field(description="`after` of the next page; null on the last")


class UsageIn(Body):
    input_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)


class ReplyIn(Body):
    """A reply to one request."""

    id: str = Field(max_length=64)
    reply: dict[str, Any] | str = Field(description="the agent's JSON object, or its text")
    model: CleanText = Field("", max_length=120, description="who answered this one, if not `model`")
    usage: UsageIn | None = None


class RepliesIn(Body):
    """Replies, and which model gave them."""

    model: CleanText = Field(min_length=1, max_length=120, description="who answered; figures name it")
    replies: list[ReplyIn] = Field(min_length=1, max_length=MOST_REPLIES)


class RefusedReply(Schema):
    place: int = Field(description="which of the replies, from 1")
    reason: str


class TakenOut(Schema):
    """What became of the replies."""

    taken: int
    known: int = Field(description="that had been taken before: they change nothing")
    continuing: int = Field(description="cases that continue")
    refused: list[RefusedReply] = Field(description="the others are taken")
