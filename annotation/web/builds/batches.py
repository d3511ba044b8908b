"""The batches of a build, as its page shows them: what is at the provider, and since when."""

from __future__ import annotations

from typing import Any, Final

from django.db.models import Count, F, Q, Sum

from annotation.models import Batch, Build
from annotation.web.shared.words import Sign

SHOWN: Final = 6
SIGNS: Final = {
    Batch.State.FILLING: Sign("+", "takes requests"),
    Batch.State.SENDING: Sign("▶", "is being sent"),
    Batch.State.OPEN: Sign("…", "at the provider"),
}
STOPPING: Final = Sign("■", "being cancelled", "warn")


def load_open_batches(build: Build) -> dict[str, Any] | None:
    """The open ones, the oldest first, with their signs, and counts of all; None where it asks live alone.

    Reads as many rows as the build has batches, which are few.
    """
    if not build.batches:
        return None
    batches = Batch.objects.filter(build=build)
    unfinished = batches.unfinished().annotate(back=F("answered") + F("returned"))
    counts = batches.aggregate(
        ended=Count("pk", filter=Q(state=Batch.State.ENDED)),
        answered=Sum("answered", default=0),
        returned=Sum("returned", default=0),
    )
    waiting = unfinished.aggregate(waiting=Sum(F("requests") - F("answered") - F("returned"), default=0))
    rows = [
        (batch, STOPPING if batch.cancelled_at else SIGNS[Batch.State(batch.state)])
        for batch in unfinished.order_by("pk")[:SHOWN]
    ]
    open_ones = unfinished.count()
    return {"rows": rows, "open": open_ones, "hidden": open_ones - len(rows), **waiting, **counts}
