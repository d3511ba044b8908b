"""A build's totals over time: noted ever more rarely as it ages, so that its charts always cost the same."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db.models import Max, Min

from annotation.models import Build, Moment, Tally

DENSEST: Final = timedelta(seconds=2)
SPARSER: Final = 0.02
"""The next moment is noted after so much of the build's age: 100 in its first 200 s, 300 more in a day."""


def record_build_totals(build: Build, now: datetime, *, always: bool = False) -> bool:
    """Note the totals of a build whose cases are made, if it is time to, or `always`; says whether it was."""
    if not build.opened:
        return False
    known = Moment.objects.filter(build=build).aggregate(first=Min("at"), last=Max("at"))
    due = known["last"] is None or now - known["last"] >= max(DENSEST, (now - known["first"]) * SPARSER)
    if not due and not always:
        return False
    tally = Tally.objects.get(pk=build.pk)
    totals = {name: getattr(tally, name) for name in ("total", "settled", "abandoned", "spent")}
    Moment.objects.create(build=build, at=now, **totals)
    return True


def find_build_start(build: Build) -> datetime | None:
    """When the build's cases were made; None where nobody noted it."""
    first: datetime | None = Moment.objects.filter(build=build).aggregate(first=Min("at"))["first"]
    return first
