"""What the API takes and says of pins."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field, model_validator

from annotation.schemas.benchmarks.benchmarks import Matches, PoolName
from annotation.schemas.shared.fields import Body, CleanText, Ref
from retrieval.schemas import Paging, RowSchema


class PinIn(Body):
    """Which figures are pinned."""

    kind: Literal["leaderboard", "comparison", "study", "build", "mining", "builds", "corpus"]
    subject: Ref = Field(
        description="id or name of the benchmark, study or build; mining = of the build, comparison = of the "
        "later version"
    )
    against: Ref | None = Field(None, description="comparison: the earlier version; builds: the second build")
    of: Literal["build", "benchmark", "collection"] = Field("benchmark", description="corpus: of what")
    pool: PoolName | None = Field(None, description="leaderboard: null = what the benchmark says")
    metric: CleanText = Field("", max_length=40, description="leaderboard and comparison")
    matches: Matches = Field("", description="leaderboard: only queries with so many matches")
    errors: CleanText = Field("", max_length=40, description="leaderboard: share of wrong labels")

    @model_validator(mode="after")
    def has_both(self) -> PinIn:
        if self.kind in ("comparison", "builds") and self.against is None:
            raise ValueError(f"a pin of the kind {self.kind} needs `against`")
        return self


class ReproduceIn(Body):
    """From where a pin is computed again."""

    start: Literal["lists", "vectors", "replies"] = Field(
        "lists", description="lists = what is stored; vectors = search again too; replies = read labels again"
    )


class PinPage(Paging):
    """Which pins of the list."""


class PinOut(RowSchema):
    """One pin of the list."""

    id: int
    name: str = Field(description="how people write it: the first digits of its hash")
    kind: str
    title: str
    sha256: str = Field(validation_alias="digest")
    created_at: datetime


class PinDetail(PinOut):
    """A pin whole."""

    subject: dict[str, Any] = Field(description="what is computed of what, options and seeds too")
    ground: dict[str, Any] = Field(description="what it rests on")
    value: Any = Field(description="what came out")
    starts: list[str] = Field(description="from where it can be computed again")
