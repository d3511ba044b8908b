"""What the API takes and says of reviews."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from annotation.schemas.shared.fields import Body, CleanText, StrictLabel
from retrieval.schemas import Id, RowSchema


class ReviewIn(Body):
    """A label, given with the agents' judgement on screen."""

    label: StrictLabel | None = Field(description="1 match, 0 no match, null unsure")
    reason: CleanText = Field(
        "", max_length=10_000, description="this, a tag or lines are needed where you differ from the agents"
    )
    tags: list[str] = Field(default_factory=list, max_length=40, description="known tags, see docs/api.md")
    lines: str = Field(
        "", max_length=20, description="lines of the function that are the reason: `4-7`, or `4` for one"
    )
    seconds: int = Field(0, ge=0, le=2**31 - 1, description="active time; 0 = not known")
    seen_revision: int = Field(ge=0, le=2**31 - 1, description="`seen_revision` of the case; 0 = none yet")
    evidence: str = Field(pattern="^[0-9a-f]{64}$", description="`evidence` of the case")


class UndoIn(Body):
    """The label to take back is your last one, if nobody was faster."""

    seen_revision: int = Field(ge=1, le=2**31 - 1, description="`seen_revision` of the case")


class AsBeforeIn(Body):
    """Your label of equal code for the same query is to count here, too."""

    source: Id | None = Field(None, description="id of that review; null = whichever there is")
    seen_revision: int = Field(ge=0, le=2**31 - 1, description="`seen_revision` of the case; 0 = none yet")
    evidence: str = Field(pattern="^[0-9a-f]{64}$", description="`evidence` of the case")


class RestoreIn(Body):
    """An earlier revision is to count again, as the next one."""

    seen_revision: int = Field(ge=0, le=2**31 - 1, description="the newest revision that you know")


class ReviewOut(RowSchema):
    """One revision of one person's label on one pair."""

    id: int
    case: int = Field(validation_alias="case_id")
    pair: int = Field(validation_alias="pair_id")
    rater: str = Field(validation_alias="rater.username")
    phase: str
    revision: int
    supersedes: int | None = Field(validation_alias="supersedes_id")
    label: int | None = Field(description="1 match, 0 no match, null unsure")
    withdrawn: bool = Field(description="this revision takes the label back")
    agent_label: int | None = Field(description="what the agents had said then")
    is_override: bool
    reason: str
    tags: list[str]
    lines: str = Field(
        validation_alias="marked_lines", description="lines marked as the reason: `4-7`, `4`, or empty"
    )
    lines_of: str = Field(
        validation_alias="marked_code", description="sha256 of the function with these lines; empty for none"
    )
    seconds: int = Field(description="active time before it was given; 0 = not known")
    calls: list[int] = Field(description="ids of the rater's calls that it rests on")
    runs: list[int] = Field(description="ids of the rater's executions that it rests on")
    evidence: str
    created_at: datetime
