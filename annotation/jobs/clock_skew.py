"""Whether this machine's clock is right: leases and pauses are moments that other machines have to share.

A worker minutes ahead would take cases from living workers, and pay for calls that are in the air; one
behind would keep to no pause that others noted. The database server's clock is the one that all can see.
"""

from __future__ import annotations

import logging
import time
from datetime import timedelta
from typing import Final

from django.db.models.functions import Now
from django.utils import timezone

from annotation.models import Build

log = logging.getLogger(__name__)
MOST: Final = timedelta(seconds=30)
"""A clock that is off by less harms nothing: leases last minutes, and no call is counted as lost before."""
EVERY: Final = 60.0
"""Seconds between two looks of one process."""

_looked: dict[str, tuple[float, bool]] = {}


def measure_clock_skew() -> timedelta:
    """How far this machine's clock is ahead of the database server's; nothing where there is no build."""
    before = timezone.now()
    server = Build.objects.annotate(server=Now()).values_list("server", flat=True).first()
    if server is None:
        return timedelta()
    return before + (timezone.now() - before) / 2 - server


def is_right() -> bool:
    """Whether this process may take work; looked at once a minute, and said in the log where it may not."""
    looked, right = _looked.get("clock", (-EVERY, True))
    now = time.monotonic()
    if now - looked < EVERY:
        return right
    found = measure_clock_skew()
    right = abs(found) <= MOST
    _looked["clock"] = now, right
    if not right:
        log.error("%s No work is taken here until it is set.", describe_clock_skew(found))
    return right


def describe_clock_skew(found: timedelta) -> str:
    """How wrong the clock is, in words."""
    way = "ahead of" if found > timedelta() else "behind"
    return f"This machine's clock is {abs(found.total_seconds()):,.0f} seconds {way} the database server's."
