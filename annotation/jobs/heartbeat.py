"""Signs of life: which queues have workers, as far as the database knows."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from annotation.models import Pulse

EVERY: Final = 20.0
"""Seconds between two signs of one process: a row a queue, written seldom."""
GONE: Final = timedelta(minutes=5)
LOOKED: Final = timedelta(seconds=20)
UNWATCHED: Final = timedelta(minutes=2)
"""After a longer pause nobody can say what happened meanwhile: the count begins anew."""

_signs: dict[str, float] = {}


def record_heartbeat(queue: str) -> None:
    """Leave a sign that a worker looks after `queue`, unless this process has just left one."""
    now = time.monotonic()
    if now - _signs.get(queue, -EVERY) < EVERY:
        return
    _signs[queue] = now
    Pulse.objects.update_or_create(queue=queue, defaults={"at": timezone.now()})


def is_due(queue: str, now: datetime) -> bool:
    """Whether it is time to look again whether the queue's work is done by anybody."""
    row = Pulse.objects.filter(queue=queue).first()
    return row is None or row.looked_at is None or now - row.looked_at >= LOOKED


def gone_since(queue: str, has_work: bool, now: datetime) -> datetime | None:
    """Note that `queue` has work or none; since when it has some and no worker, once that is GONE long."""
    row, _ = Pulse.objects.get_or_create(queue=queue)
    watched = row.looked_at is not None and now - row.looked_at < UNWATCHED
    wanted = (row.wanted_since if watched and row.wanted_since else now) if has_work else None
    Pulse.objects.filter(pk=row.pk).update(wanted_since=wanted, looked_at=now)
    since = wanted and max(wanted, row.at or wanted)
    return since if since and now - since >= GONE else None
