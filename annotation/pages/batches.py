"""The batches of a build, as its page shows them: what is at the provider, and since when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Count, Q, Sum

from annotation.models import Batch, Build
from annotation.pages.words import STAGES, Sign

SHOWN: Final = 6
SIGNS: Final = {
    Batch.State.FILLING: Sign("+", "takes requests"),
    Batch.State.SENDING: Sign("▶", "is being sent"),
    Batch.State.OPEN: Sign("…", "at the provider"),
}
STOPPING: Final = Sign("■", "being cancelled", "warn")


@dataclass(frozen=True)
class Row:
    """One batch that has not ended. `since` is when it was sent, or made; `look_at` when it is asked for."""

    stage: str
    sign: Sign
    requests: int
    back: int
    since: datetime
    look_at: datetime | None
    provider_id: str
    error: str


@dataclass(frozen=True)
class Batches:
    """The open ones, the oldest first; how many there are, how many have ended, and their results."""

    rows: tuple[Row, ...]
    open: int
    waiting: int
    ended: int
    answered: int
    returned: int

    @property
    def hidden(self) -> int:
        return self.open - len(self.rows)


def batches(build: Build) -> Batches | None:
    """None where the build asks live alone. Reads as many rows as it has batches, which are few."""
    if not build.batches:
        return None
    unfinished = Batch.objects.filter(build=build).unfinished()
    done = Q(state=Batch.State.ENDED)
    counts = Batch.objects.filter(build=build).aggregate(
        ended=Count("pk", filter=done),
        answered=Sum("answered", default=0),
        returned=Sum("returned", default=0),
    )
    waiting = unfinished.aggregate(all=Sum("requests", default=0), back=Sum("answered") + Sum("returned"))
    rows = tuple(row(batch) for batch in unfinished.order_by("pk")[:SHOWN])
    return Batches(rows, unfinished.count(), waiting["all"] - (waiting["back"] or 0), **counts)


def row(batch: Batch) -> Row:
    return Row(
        stage=STAGES[batch.stage].word,
        sign=STOPPING if batch.cancelled_at else SIGNS[Batch.State(batch.state)],
        requests=batch.requests,
        back=batch.answered + batch.returned,
        since=batch.sent_at or batch.created_at,
        look_at=batch.look_at,
        provider_id=batch.provider_id,
        error=batch.error,
    )
