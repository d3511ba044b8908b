"""What the API takes and says of the project: its cap, prices, connection tests, people and invitations."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from ninja import Schema
from pydantic import Field, model_validator

from annotation.schemas.builds.builds import CapOut
from annotation.schemas.shared.fields import Body, CleanText, Dollars
from retrieval.schemas import Paging, RowSchema

RoleName = Literal["reader", "expert", "admin"]
GivenRole = Literal["reader", "expert"]
"""What a token can give: none makes an admin, who could do more than the token (decision 75)."""
TestState = Literal["waiting", "running", "done", "failed"]


class CapChangeOut(RowSchema):
    """One change of the project's cap, in dollars."""

    id: int
    before: Dollars | None = Field(description="null = no cap")
    after: Dollars | None = Field(description="null = no cap")
    reason: str
    user: str | None = Field(validation_alias="user.username")
    at: datetime


class ProjectCapOut(CapOut):
    """The cap that all live builds share."""

    stopped: list[int] = Field(description="builds that stopped at it: POST /api/builds/resume resumes them")
    notices: list[str] = Field(description="what to look at, such as builds without a price")


class PricePage(Paging):
    """Which prices of the list."""

    model: CleanText | None = Field(None, description="exactly this model")


class PriceIn(Body):
    """Dollars per million tokens of a model, from a moment on."""

    model: CleanText = Field(min_length=1, max_length=120)
    input: Decimal = Field(ge=0, max_digits=12, decimal_places=6)
    output: Decimal = Field(ge=0, max_digits=12, decimal_places=6)
    cache_read: Decimal | None = Field(
        None, ge=0, max_digits=12, decimal_places=6, description="null = as other input"
    )
    cache_write: Decimal | None = Field(
        None, ge=0, max_digits=12, decimal_places=6, description="null = 1.25 times other input"
    )
    effective_from: datetime | None = Field(None, description="null = now")
    note: CleanText = Field("", max_length=200)


class ModelPriceOut(RowSchema):
    """A price; calls count at the one that was in force."""

    id: int
    model: str
    effective_from: datetime
    input: Decimal
    output: Decimal
    cache_read: Decimal | None
    cache_write: Decimal | None
    note: str
    source: str = Field(description="of a shipped price; empty = a person entered it")


class ConnectionTestIn(Body):
    """Which server of language models is tested."""

    model: CleanText | None = Field(
        None, min_length=1, max_length=120, description="null = the configured model"
    )
    profile: CleanText | None = Field(
        None, max_length=400, description="what it is compared with; null = the configured profile"
    )
    base_url: CleanText = Field(
        "", max_length=400, description="empty = the configured address; another one is asked without a key"
    )
    caching: bool = Field(False, description="try prompt caching too: about 12,000 tokens more")
    batches: bool = Field(False, description="try a batch too: up to two minutes more")


class ConnectionTestOut(RowSchema):
    """One test, and what was found."""

    id: int
    model: str
    profile: str
    base_url: str
    configured: bool = Field(description="the configured address, asked with the configured key")
    state: TestState
    message: str = Field(description="why it failed")
    findings: list[dict[str, Any]] = Field(
        description="one for each question: what was tried, whether it works, and the answer"
    )
    toml: str = Field(description="the profile that fits the server; empty until it is done")
    calls: int
    input_tokens: int
    output_tokens: int
    cost: Dollars | None = Field(description="dollars; null where no price is known")
    latency: float | None = Field(description="seconds, the median of the replies")
    user: str = Field(validation_alias="user.username")
    created_at: datetime
    finished_at: datetime | None


class PeoplePage(Paging):
    """Which people of the list."""

    q: CleanText = Field("", max_length=150, description="a part of the name or the e-mail")
    role: Literal["", "reader", "expert", "admin", "none"] = ""
    state: Literal["", "open", "closed"] = ""


class PersonOut(RowSchema):
    """An account."""

    id: int
    name: str = Field(validation_alias="username")
    email: str
    role: RoleName | None
    open: bool = Field(description="whether the person can log in", validation_alias="is_active")
    last_login: datetime | None
    date_joined: datetime


class PersonChangeIn(Body):
    """What is changed of an account."""

    action: Literal["role", "close", "open"]
    role: GivenRole | None = Field(None, description="of the action role; admins are made on pages alone")

    @model_validator(mode="after")
    def has_role(self) -> PersonChangeIn:
        if self.action == "role" and self.role is None:
            raise ValueError("say which `role`")
        return self


class InvitationIn(Body):
    """Whom an admin invites."""

    role: GivenRole = Field("expert", description="admins are invited on pages alone")
    name: CleanText = Field("", max_length=150, description="a note for the list, such as a person's name")
    email: str = Field("", max_length=254, description="where the link is mailed, if a mail server is set")
    days: int = Field(7, ge=1, le=90, description="the link ends after them")


class InvitationOut(RowSchema):
    """An invitation, without its link."""

    id: int
    role: RoleName
    name: str
    email: str
    state: Literal["open", "accepted", "revoked", "expired"]
    created_by: str = Field(validation_alias="created_by.username")
    created_at: datetime
    expires_at: datetime
    accepted_by: str | None = Field(validation_alias="accepted_by.username")


class InvitationMade(InvitationOut):
    """An invitation with its link, which is told this one time."""

    link: str
    mailed: bool
    mail_problem: str = Field(description="why the mail could not be sent; empty where nothing went wrong")


class RevokedOut(Schema):
    """Whether the invitation was open, and lets nobody in now."""

    revoked: bool
