"""Pins that are computed again: ordered on the pin's page, and what came out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from retrieval.models import Pin, ReproduceJob

SHOWN: Final = 5
MOST_WAITING: Final = 20
STARTS: Final = {
    Pin.Kind.LEADERBOARD.value: tuple(ReproduceJob.Start),
    Pin.Kind.MINING.value: (ReproduceJob.Start.LISTS, ReproduceJob.Start.VECTORS),
    Pin.Kind.BUILD.value: (ReproduceJob.Start.LISTS, ReproduceJob.Start.REPLIES),
}
"""From where each kind of pin can be computed again; the others from what is stored alone."""


@dataclass(frozen=True, slots=True)
class Again:
    """The newest orders of a pin, and from where another may begin."""

    pin: Pin
    jobs: tuple[ReproduceJob, ...]

    @property
    def starts(self) -> list[tuple[str, str]]:
        found = STARTS.get(self.pin.kind, (ReproduceJob.Start.LISTS,))
        return [(start.value, str(start.label)) for start in found]

    @property
    def is_live(self) -> bool:
        return any(job.state in ReproduceJob.OPEN for job in self.jobs)


def again(pin: Pin) -> Again:
    return Again(pin, tuple(pin.reproductions.select_related("created_by")[:SHOWN]))


def order(pin: Pin, start: str, user: User) -> str:
    """Have a worker compute it again; why that can't be ordered, else nothing. The same is ordered once."""
    if start not in dict(again(pin).starts):
        return "A pin of this kind can’t be computed from there."
    if ReproduceJob.objects.filter(state__in=ReproduceJob.OPEN).count() >= MOST_WAITING:
        return f"{MOST_WAITING} pins wait to be computed again: let some end first."
    try:
        with transaction.atomic():
            ReproduceJob.objects.create(pin=pin, start=start, created_by=user)
    except IntegrityError:
        return "This is ordered already."
    return ""
