"""What people outside were told, and whether it got there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from annotation import caps, notifying
from annotation.models import Build, Delivery, Notice
from annotation.pages.words import Sign
from retrieval.counting import counted

SHOWN: Final = 8
LATELY: Final = timedelta(days=7)
STATES: Final[Mapping[str, Sign]] = MappingProxyType(
    {
        Delivery.State.WAITING: Sign("…", "is sent soon"),
        Delivery.State.SENDING: Sign("▶", "is being sent"),
        Delivery.State.SENT: Sign("✓", "sent", "good"),
        Delivery.State.FAILED: Sign("✗", "not sent", "bad"),
        Delivery.State.LOST: Sign("?", "nobody knows whether it arrived", "warn"),
    }
)


@dataclass(frozen=True)
class Sent:
    """One way on which a notice went out. `error` is that of the last try."""

    way: str
    sign: Sign
    tries: int
    error: str


@dataclass(frozen=True)
class Told:
    """A notice and what came of it."""

    what: str
    at: datetime
    ways: tuple[Sent, ...]


@dataclass(frozen=True)
class ProjectNotice:
    """What stands about the cap of all live builds: what it means and what to do.

    `since` is when it was first noticed; None where no worker has looked since it is so.
    """

    tone: str
    since: datetime | None
    words: str
    meaning: str
    to_do: str
    ways: tuple[Sent, ...]


MEANING: Final[Mapping[Notice.Kind, tuple[str, str, str]]] = MappingProxyType(
    {
        Notice.Kind.PROJECT_NEARLY_SPENT: (
            "warn",
            "Live builds go on until nothing is left for their next call; then each of them pauses.",
            "Raise the cap before that, or let it end the spending.",
        ),
        Notice.Kind.PROJECT_SPENT: (
            "bad",
            "No live build begins a call. Calls in the air still end and count, and no case loses a try.",
            "Raise the cap, then resume the builds that stopped at it.",
        ),
    }
)
"""Tone, what it means, and what to do."""
UNCOUNTED: Final = (
    "What it spends is counted nowhere.",
    "Pause it, or enter the price: what is asked from then on counts. None can be launched under a cap.",
)


def of_project() -> tuple[ProjectNotice, ...]:
    """What stands now about the project's cap: nothing while less than 80 % are spent."""
    return tuple(project_notice(episode) for episode in notifying.of_project())


def uncounted(among: QuerySet[Build] | None = None) -> tuple[ProjectNotice, ...]:
    """That no cap holds the live builds (`among` some) whose model has no price, with their names."""
    if not (free := caps.uncounted(among)):
        return ()
    words = (
        f"The project’s cap does not hold {counted(len(free), 'build')}, as nobody has entered what the "
        f"model costs: {caps.named(free)}."
    )
    return (ProjectNotice("warn", None, words, *UNCOUNTED, ()),)


def project_notice(episode: notifying.Episode) -> ProjectNotice:
    rows = Notice.objects.filter(kind=episode.kind, episode=episode.key)
    row = rows.prefetch_related("deliveries").first()
    tone, meaning, to_do = MEANING[episode.kind]
    ways = tuple(map(sent, row.deliveries.all())) if row else ()
    return ProjectNotice(tone, row.at if row else None, episode.words, meaning, to_do, ways)


def told_of(build: Build) -> tuple[Told, ...]:
    """The newest notices of a build."""
    rows = Notice.objects.filter(build=build).prefetch_related("deliveries")[:SHOWN]
    return tuple(told(notice) for notice in rows)


def told(notice: Notice) -> Told:
    ways = (sent(delivery) for delivery in notice.deliveries.all())
    return Told(notice.get_kind_display(), notice.at, tuple(ways))


def sent(delivery: Delivery) -> Sent:
    way = delivery.get_channel_display()
    return Sent(way, STATES[delivery.state], delivery.tries, delivery.error)


def standing() -> tuple[bool, str]:
    """Whether notifications get out, and in words who is told and what failed lately."""
    ways = [way.label for way in notifying.channels()]
    if not ways:
        return True, "Nobody is notified: COSQA_NOTIFY_EMAIL and COSQA_NOTIFY_COMMAND are not set."
    whom = f"By {' and '.join(ways)}"
    if settings.NOTIFY_EMAIL:
        whom += f", to {', '.join(settings.NOTIFY_EMAIL)}"
    unsent = Delivery.objects.filter(state__in=[Delivery.State.FAILED, Delivery.State.LOST])
    last = unsent.filter(begun_at__gte=timezone.now() - LATELY).order_by("-begun_at").first()
    if last is None:
        return True, f"{whom}."
    return False, f"{whom}. The last that did not get out ({last.get_channel_display()}): {last.error}"
