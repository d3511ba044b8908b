"""A build's totals over time: noted ever more rarely as it ages, so that its charts always cost the same."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db.models import Max, Min

from annotation.models import Build, Moment, Tally

DENSEST: Final = timedelta(seconds=2)
SPARSER: Final = 0.02
"""The next moment is noted after so much of the build's age: 100 in its first 200 s, 300 more in a day."""


def note(build: Build, now: datetime, *, always: bool = False) -> bool:
    """Note the totals of a build whose cases are made, if it is time to, or `always`; says whether it was."""
    if not build.opened:
        return False
    known = Moment.objects.filter(build=build).aggregate(first=Min("at"), last=Max("at"))
    if known["last"] is not None and not always and now - known["last"] < pause(now - known["first"]):
        return False
    tally = Tally.objects.get(pk=build.pk)
    Moment.objects.create(
        build=build,
        at=now,
        total=tally.total,
        settled=tally.settled,
        abandoned=tally.abandoned,
        spent=tally.spent,
    )
    return True


def pause(age: timedelta) -> timedelta:
    """How long after the last moment the next one is noted."""
    return max(DENSEST, age * SPARSER)


def began(build: Build) -> datetime | None:
    """When the build's cases were made; None where nobody noted it."""
    first: datetime | None = Moment.objects.filter(build=build).aggregate(first=Min("at"))["first"]
    return first
