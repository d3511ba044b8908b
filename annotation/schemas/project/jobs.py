"""What the API says of orders that a worker carries out: imports, scores, trainings, exports and more."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from retrieval.schemas import Id, Paging, RowSchema

JobKind = Literal[
    "import", "filter", "export", "run", "score", "reproduce", "publish", "leaks", "train", "bugs", "similar"
]
JobState = Literal["columns", "waiting", "running", "done", "partial", "failed", "cancelled"]


class JobPage(Paging):
    """Which orders of the list."""

    kind: JobKind | None = None
    subject: Id | None = Field(None, description="only those about the row with this id: see `subject`")
    state: JobState | None = None


class JobOut(RowSchema):
    """One order, and how far it is."""

    id: int
    kind: JobKind
    subject: int = Field(
        description="id of the benchmark, collection, pin or build that it is about; 0 = of none"
    )
    state: JobState = Field(
        description="columns = a table waits until its columns are named; partial = some records were refused"
    )
    done: int = Field(description="done in the present stage")
    total: int = Field(description="to be done in the present stage; 0 = not known")
    message: str = Field(description="the present stage, or what came of it, or why it failed")
    problems: list[str] = Field(description="an import: each refused record with the reason, the first 100")
    result: dict[str, Any] = Field(description="what came of it: ids and counts, by the kind of order")
    order: dict[str, Any] = Field(description="what was ordered")
    created_by: str = Field(validation_alias="created_by.username")
    created_at: datetime
    finished_at: datetime | None
