"""A provider that fails again and again: its build waits, tries with growing pauses, and goes on by itself.

No case is to blame for an outage, and none loses a try. A build that waits for a person (a wrong key, no
credit) is in the same state, but nothing is tried: `probe_at` is empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import F, QuerySet
from django.db.models.functions import Greatest
from django.utils import timezone

from annotation.llm import LLMError
from annotation.models import Build, BuildEvent, Tally
from retrieval.hostile import clean

RUN: Final = 10
"""So many errors of the provider, with no reply among them, are an outage."""
FIRST_PAUSE: Final = timedelta(seconds=5)
LONGEST_PAUSE: Final = timedelta(minutes=5)
LONGEST_WISH: Final = 3600.0
"""Seconds; a provider may ask for a longer pause, but no header makes a build sleep for days."""
IN_THE_AIR: Final = timedelta(minutes=10)
"""So long a try may take before another worker takes the next: that one may have died."""
NOT_WAITING: Final[Mapping[str, Any]] = {"waiting_since": None, "probe_at": None, "probes": 0}


def failed(build: Build, error: LLMError) -> None:
    """Count an error of the provider; a run of them makes its build wait."""
    build.tally.change(provider_errors=1)
    run = Tally.objects.get(pk=build.pk).provider_errors
    waits = waiting(build)
    if waits.update(reason=clean(error.message), probe_at=next_try(build.probes, error)):
        build.tally.change()
    elif run >= RUN:
        hold(build, error)


def hold(build: Build, error: LLMError) -> None:
    """Let a running build wait, and say why and since when."""
    held = Build.objects.filter(pk=build.pk, state=Build.State.RUNNING).update(
        state=Build.State.WAITING,
        reason=clean(error.message),
        waiting_since=timezone.now(),
        probe_at=next_try(0, error),
        probes=0,
    )
    if held:
        note(build, "waits for the provider", error.message)


def next_try(probes: int, error: LLMError) -> datetime:
    """When the provider is tried after so many tries: later each time, and never before it asked for it."""
    grown = min(FIRST_PAUSE * (1 << min(probes, 10)), LONGEST_PAUSE)
    return timezone.now() + max(grown, asked_pause(error))


def asked_pause(error: LLMError, usual: float = 0.0) -> timedelta:
    """How long the provider asks to wait; `usual` seconds where it does not say."""
    return timedelta(seconds=min(error.retry_after or usual, LONGEST_WISH))


def due() -> QuerySet[Build]:
    """Builds whose provider is to be tried now."""
    waits = Build.objects.filter(state=Build.State.WAITING, probe_at__lte=timezone.now())
    return waits.order_by("probe_at")


def take(build: Build) -> bool:
    """Make the try this worker's; False where another one took it."""
    mine = Build.objects.filter(pk=build.pk, state=Build.State.WAITING, probe_at=build.probe_at)
    return mine.update(probe_at=timezone.now() + IN_THE_AIR, probes=F("probes") + 1) == 1


def tried(build: Build, errors_before: int) -> None:
    """After a try: go on when the provider has answered; when nothing had to be asked, try another case."""
    errors = Tally.objects.get(pk=build.pk).provider_errors
    if not errors:
        over(build)
    elif errors <= errors_before:
        waiting(build).update(probe_at=timezone.now(), probes=Greatest(F("probes") - 1, 0))


def over(build: Build) -> None:
    """Go on with a build that waits for its provider, and say how long it waited."""
    found = waiting(build).first()
    if found is None or found.waiting_since is None:
        return
    minutes = (timezone.now() - found.waiting_since) / timedelta(minutes=1)
    if waiting(build).update(state=Build.State.RUNNING, reason="", **NOT_WAITING):
        tries = "1 try" if found.probes == 1 else f"{found.probes} tries"
        note(
            build, "goes on by itself", f"the provider answers again, after {minutes:.0f} minutes and {tries}"
        )


def waiting(build: Build) -> QuerySet[Build]:
    """The build, if it waits for its provider and not for a person."""
    return Build.objects.filter(pk=build.pk, state=Build.State.WAITING, probe_at__isnull=False)


def note(build: Build, event: str, words: str) -> None:
    """Append what the workbench did to the build by itself."""
    BuildEvent.objects.create(build=build, event=event, note=clean(words))
    build.tally.change()
