"""What people outside were told, and whether it got there."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, TypeAlias

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from annotation.builds.control import spending_caps
from annotation.jobs import notifications
from annotation.models import Build, Delivery, Notice
from annotation.web.shared.words import Sign
from retrieval.texts.plurals import count_noun

SHOWN: Final = 8
LATELY: Final = timedelta(days=7)
STATES: Final[Mapping[str, Sign]] = {
    Delivery.State.WAITING: Sign("…", "is sent soon"),
    Delivery.State.SENDING: Sign("▶", "is being sent"),
    Delivery.State.SENT: Sign("✓", "sent", "good"),
    Delivery.State.FAILED: Sign("✗", "not sent", "bad"),
    Delivery.State.LOST: Sign("?", "nobody knows whether it arrived", "warn"),
}


Deliveries: TypeAlias = list[tuple[Delivery, Sign]]
"""The ways on which a notice went out; a delivery's `error` is that of the last try."""
MEANING: Final[Mapping[Notice.Kind, tuple[str, str, str]]] = {
    Notice.Kind.PROJECT_NEARLY_SPENT: (
        "warn",
        "Live builds continue until nothing is left for their next call; then each build pauses.",
        "Raise the cap before that, or let it end the spending.",
    ),
    Notice.Kind.PROJECT_SPENT: (
        "bad",
        "No live build starts another call. Calls under way still finish and count, and no case loses a try.",
        "Raise the cap, then resume the builds that stopped at it.",
    ),
}
"""Tone, what it means, and what to do."""
UNCOUNTED: Final = (
    "What it spends is counted nowhere.",
    "Pause it, or enter the price: what is asked from then on counts. None can be launched under a cap.",
)


def of_project() -> list[dict[str, Any]]:
    """What stands now about the project's cap: nothing while less than 80 % are spent.

    `since` is when it was first noticed; None where no worker has looked since it is so.
    """
    return [build_project_notice(episode) for episode in notifications.of_project()]


def build_unpriced_notices(among: QuerySet[Build] | None = None) -> list[dict[str, Any]]:
    """That no cap holds the live builds (`among` some) whose model has no price, with their names."""
    if not (free := spending_caps.find_unpriced_builds(among)):
        return []
    words = (
        f"The project’s cap does not hold {count_noun(len(free), 'build')}, as nobody has entered what the "
        f"model costs: {spending_caps.format_builds_with_models(free)}."
    )
    return [{"tone": "warn", "words": words, "meaning": UNCOUNTED[0], "to_do": UNCOUNTED[1]}]


def build_project_notice(episode: notifications.Episode) -> dict[str, Any]:
    rows = Notice.objects.filter(kind=episode.kind, episode=episode.key)
    row = rows.prefetch_related("deliveries").first()
    tone, meaning, to_do = MEANING[episode.kind]
    return {
        "tone": tone,
        "since": row.at if row else None,
        "words": episode.words,
        "meaning": meaning,
        "to_do": to_do,
        "ways": describe_deliveries(row) if row else [],
    }


def told_of(build: Build) -> list[tuple[Notice, Deliveries]]:
    """The newest notices of a build, each with what came of it."""
    rows = Notice.objects.filter(build=build).prefetch_related("deliveries")[:SHOWN]
    return [(notice, describe_deliveries(notice)) for notice in rows]


def describe_deliveries(notice: Notice) -> Deliveries:
    return [(delivery, STATES[delivery.state]) for delivery in notice.deliveries.all()]


def describe_notification_status() -> tuple[bool, str]:
    """Whether notifications get out, and in words who is told and what failed lately."""
    ways = [way.label for way in notifications.list_configured_channels()]
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
