"""How fast a person asks for runs and calls: one who types is never near the limit, a script is.

Each run in the sandbox counts: a test beside a candidate or a fault of it counts as one that was edited does.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.utils import timezone

from annotation.models import CallRequest, ExecutionRequest, Trial

WINDOW: Final = timedelta(minutes=1)


def seconds_to_wait(user_id: int, now: datetime | None = None, runs: int = 1) -> int:
    """Whole seconds until the person may ask for so many further runs or calls; 0 where that is now.

    More at once than a minute may have need a whole minute for themselves.
    """
    most = settings.RUNS_PER_MINUTE
    latest, others = latest_of(user_id), most - min(runs, most)
    if len(latest) <= others:
        return 0
    left = latest[others] + WINDOW - (now or timezone.now())
    return max(0, math.ceil(left.total_seconds()))


def remaining_rate_limit(user_id: int) -> int:
    """How many runs and calls the person may ask for now."""
    since = timezone.now() - WINDOW
    return settings.RUNS_PER_MINUTE - sum(at > since for at in latest_of(user_id))


def latest_of(user_id: int) -> list[datetime]:
    """When the person's latest runs and calls were asked for, the latest first: as many as a minute may have.

    Not when all others were.
    """
    most = settings.RUNS_PER_MINUTE
    return sorted(times_of(user_id, most), reverse=True)[:most]


def times_of(user_id: int, most: int) -> list[datetime]:
    """When the person's latest runs and calls were asked for, at most so many of each."""
    times: list[datetime] = []
    for rows in (ExecutionRequest.objects, CallRequest.objects, Trial.objects):
        latest = rows.filter(user=user_id).order_by("-id").values_list("created_at", flat=True)
        times.extend(latest[:most])
    return times
