"""A provider or a sandbox that is away, or a full disk: its build waits, tries with growing pauses, and goes
on by itself.

No case is to blame for an outage, and none loses a try; `builds.limits.poison_requests` tells it from a
request that never works. A build that waits for a person (a wrong key, no credit) is in the same state, but
nothing is tried: `next_probe_at` is empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.functions import Greatest
from django.utils import timezone

from annotation.llm import LLMError
from annotation.models import Batch, Build, BuildEvent, Tally, Webhook
from annotation.stages import Queue
from annotation.webhooks.outbox import announce_build
from retrieval.models import statements
from retrieval.texts.hostile import mark_hostile_characters

RUN: Final = 10
"""So many errors of the provider or the sandbox, with no success among them, are an outage."""
RUN_OF_BATCHES: Final = 4
"""The same where batches are sent and looked at, which is seldom."""
FIRST_PAUSE: Final = timedelta(seconds=5)
LONGEST_PAUSE: Final = timedelta(minutes=5)
LONGEST_WISH: Final = 3600.0
"""Seconds; a provider may ask for a longer pause, but no header makes a build sleep for days."""
IN_THE_AIR: Final = timedelta(minutes=10)
"""So long a try may take before another worker takes the next: that one may have died."""
NOT_WAITING: Final[Mapping[str, Any]] = {
    "waits_for": Build.WaitsFor.PROVIDER,
    "waiting_since": None,
    "next_probe_at": None,
    "probe_count": 0,
}


@dataclass(frozen=True)
class Source:
    """Something that builds depend on and that can be away; `errors` is its column of the totals."""

    kind: Build.WaitsFor
    errors: str
    name: str
    back: str

    def run(self, build: Build) -> int:
        """Its errors since its last success."""
        return int(getattr(Tally.objects.get(pk=build.pk), self.errors))


SOURCES: Final[Mapping[Queue, Source]] = {
    "llm": Source(Build.WaitsFor.PROVIDER, "provider_errors", "the provider", "answers again"),
    "sandbox": Source(Build.WaitsFor.SANDBOX, "sandbox_errors", "the sandbox", "runs programs again"),
}
"""What the cases of each queue depend on."""
DISK: Final = Source(Build.WaitsFor.DISK, "", "room on the disk", "has room again")
"""What all work depends on; a worker looks at it, and no case is spent on that."""


def record_provider_error(build: Build, error: LLMError) -> None:
    """Count an error of the provider; a run of them makes its build wait."""
    count_breaker_failure(build, SOURCES["llm"], error.message, asked_pause(error))


def batch_failed(build: Build, error: LLMError, at: datetime) -> None:
    """Count that a batch could not be sent or looked at; the next try is at `at`, and is the build's too."""
    source = SOURCES["llm"]
    build.tally.change(**{source.errors: 1})
    tried = find_waiting_build(build).filter(waits_for=source.kind)
    if tried.update(
        reason=mark_hostile_characters(error.message), next_probe_at=at, probe_count=F("probe_count") + 1
    ):
        build.tally.change()
    elif source.run(build) >= RUN_OF_BATCHES:
        hold_build_for_outage(build, source, error.message, at - timezone.now())


def batch_works(build: Build) -> None:
    """The provider took or showed a batch that it had refused: the build goes on."""
    statements.update_rows(
        Tally, {"build": build.pk}, put={"provider_errors": 0}, provided="provider_errors > 0"
    )
    find_waiting_build(build).filter(waits_for=Build.WaitsFor.PROVIDER).update(
        probe_count=F("probe_count") + 1
    )
    resume_after_outage(build)


def sandbox_failed(build: Build, reason: str) -> None:
    """Count a run that no sandbox could make, whatever the program; a series makes the build wait."""
    count_breaker_failure(build, SOURCES["sandbox"], reason)


def sandbox_works(build: Build) -> None:
    """A program was run: the series is over."""
    put = {"sandbox_errors": 0}
    statements.update_rows(Tally, {"build": build.pk}, put=put, provided="sandbox_errors > 0")


def hold_build_for_disk(build: Build, reason: str, pause: timedelta) -> None:
    """Let a running build wait until there is room on the disk, and for `pause` at least."""
    hold_build_for_outage(build, DISK, reason, pause)


def count_breaker_failure(build: Build, source: Source, reason: str, asked: timedelta = timedelta()) -> None:
    build.tally.change(**{source.errors: 1})
    waits = find_waiting_build(build).filter(waits_for=source.kind)
    if waits.update(reason=mark_hostile_characters(reason), next_probe_at=next_try(build.probe_count, asked)):
        build.tally.change()
    elif source.run(build) >= RUN:
        hold_build_for_outage(build, source, reason, asked)


def hold_build_for_outage(build: Build, source: Source, reason: str, asked: timedelta) -> None:
    """Let a running build wait, and say for what, why and since when."""
    held = Build.objects.filter(pk=build.pk, state=Build.State.RUNNING).update(
        state=Build.State.WAITING,
        waits_for=source.kind,
        reason=mark_hostile_characters(reason),
        waiting_since=timezone.now(),
        next_probe_at=next_try(0, asked),
        probe_count=0,
    )
    if held:
        note_automatic_event(build, f"waits for {source.name}", reason)


def next_try(probes: int, asked: timedelta) -> datetime:
    """When to try after so many tries: later each time, and never before the provider asked for it."""
    grown = min(FIRST_PAUSE * (1 << min(probes, 10)), LONGEST_PAUSE)
    return timezone.now() + max(grown, asked)


def asked_pause(error: LLMError, usual: float = 0.0) -> timedelta:
    """How long the provider asks to wait; `usual` seconds where it does not say.

    That is twice as long each time that a request fails while others are answered.
    """
    return timedelta(seconds=min(error.retry_after or usual * (1 << min(error.failures, 7)), LONGEST_WISH))


def find_builds_to_probe(queue: Queue = "llm") -> QuerySet[Build]:
    """Builds whose provider, or sandbox, is to be tried now by a worker of `queue`.

    Where a batch has failed, it is what the provider is tried with.
    """
    waits = Build.objects.filter(state=Build.State.WAITING, waits_for=SOURCES[queue].kind)
    if queue == "llm":
        failing = Batch.objects.unfinished().exclude(error="").filter(build=OuterRef("pk"))
        waits = waits.exclude(Exists(failing))
    return waits.filter(next_probe_at__lte=timezone.now()).order_by("next_probe_at")


def claim_build_probe(build: Build) -> bool:
    """Make the try this worker's; False where another one took it."""
    mine = Build.objects.filter(pk=build.pk, state=Build.State.WAITING, next_probe_at=build.next_probe_at)
    return mine.update(next_probe_at=timezone.now() + IN_THE_AIR, probe_count=F("probe_count") + 1) == 1


def conclude_build_probe(build: Build, errors_before: int, queue: Queue = "llm") -> None:
    """After a try: go on when it succeeded; when nothing had to be asked or run, try another case."""
    errors = SOURCES[queue].run(build)
    if not errors:
        resume_after_outage(build)
    elif errors <= errors_before:
        find_waiting_build(build).update(
            next_probe_at=timezone.now(), probe_count=Greatest(F("probe_count") - 1, 0)
        )


def resume_after_outage(build: Build) -> None:
    """Go on with a build that waits for its provider or sandbox, and say how long it waited."""
    found = find_waiting_build(build).first()
    if found is None or found.waiting_since is None:
        return
    minutes = (timezone.now() - found.waiting_since) / timedelta(minutes=1)
    if find_waiting_build(build).update(state=Build.State.RUNNING, reason="", **NOT_WAITING):
        note_automatic_event(build, "continues by itself", describe_end_of_wait(found, minutes))


def describe_end_of_wait(build: Build, minutes: float) -> str:
    """What is back, and how long it was away; `build` as it waited."""
    if build.waits_for == DISK.kind:
        return f"the disk {DISK.back}, after {minutes:.0f} minutes"
    [source] = [source for source in SOURCES.values() if source.kind == build.waits_for]
    tries = "1 try" if build.probe_count == 1 else f"{build.probe_count} tries"
    return f"{source.name} {source.back}, after {minutes:.0f} minutes and {tries}"


def find_waiting_build(build: Build) -> QuerySet[Build]:
    """The build, if it waits for its provider or sandbox and not for a person."""
    return Build.objects.filter(pk=build.pk, state=Build.State.WAITING, next_probe_at__isnull=False)


def stop_build_for_person(build: Build, reason: str, state: str = Build.State.PAUSED) -> None:
    """Stop a build that runs, or waits for what is away, for a person to look at; `reason` says at what."""
    since = timezone.now() if state == Build.State.WAITING else None
    moving = Build.objects.filter(pk=build.pk, state__in=[Build.State.RUNNING, Build.State.WAITING])
    with transaction.atomic():
        stopped = moving.exclude(state=Build.State.WAITING, next_probe_at__isnull=True).update(
            state=state, reason=mark_hostile_characters(reason), **{**NOT_WAITING, "waiting_since": since}
        )
        if stopped:
            announce_build(build, Webhook.Event.BUILD_NEEDS_PERSON)
            note_automatic_event(build, "stopped for a person", reason)


def note_automatic_event(build: Build, event: str, words: str) -> None:
    """Append what the workbench did to the build by itself."""
    BuildEvent.objects.create(build=build, event=event, note=mark_hostile_characters(words))
    build.tally.change()
