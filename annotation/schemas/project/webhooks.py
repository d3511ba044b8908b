"""What the API takes and says of webhooks. Plain data, as in `schemas`."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from ninja import Schema
from pydantic import Field

from retrieval.schemas import Id, RowSchema

WebhookEvent = Literal["build.done", "build.paused", "build.needs_person", "study.done"]


class WebhookIn(Schema):
    """A new webhook."""

    name: str = Field(min_length=1, max_length=80)
    address: str = Field(max_length=500, description="https://… of a public server")
    events: list[WebhookEvent] = Field(min_length=1, max_length=10, description="what it hears of")


class WebhookSwitch(Schema):
    """Whether a webhook is told of events."""

    on: bool = Field(description="off: what waits for it is given up")


class WebhookOut(RowSchema):
    """One webhook, without its secret."""

    id: Id
    name: str
    address: str
    events: list[str]
    is_on: bool
    off_reason: str = Field(description="why the workbench switched it off by itself")
    failing_since: datetime | None = Field(
        description="since when nothing arrives; null where that is not so"
    )
    created_at: datetime


class WebhookMade(WebhookOut):
    """A new webhook. The secret is told here alone."""

    secret: str = Field(description="`whsec_…`: the receiver checks signatures with it")


class WebhookDeliveryOut(RowSchema):
    """One message to a webhook, without its body: that names builds, and who rates blind may see none."""

    id: Id
    message: str = Field(description="its id, the header `webhook-id` of each try")
    event: str
    state: Literal["waiting", "sent", "failed"] = Field(description="sent = it arrived")
    tries: int
    tried_at: datetime | None = Field(description="when the last try began")
    due_at: datetime = Field(description="of one that waits: when it is tried next")
    status: int | None = Field(description="HTTP's, of the last answer; null where none came")
    answer: str = Field(description="how the last answer begins")
    error: str = Field(description="why the last try failed")
    created_at: datetime
