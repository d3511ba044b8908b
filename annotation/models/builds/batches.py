"""Many requests that one provider answers together, later, at half the price."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from annotation.models.builds.build import Build

MOST_REQUESTS: Final = 10_000
MOST_BYTES: Final = 64_000_000
"""Where a batch is cut: far below the provider's 100,000 requests and 256 MB, as it is sent from memory."""
FILLS: Final = timedelta(seconds=3)
"""How often a worker looks whether a batch that still fills can be sent."""


def compute_batch_price(amount: int) -> int:
    """What a batch costs of the usual price, in whole nanodollars, rounded up."""
    return -(-amount // 2)


class BatchQuerySet(models.QuerySet["Batch"]):
    def joined(self, build: Build, stage: str, size: int) -> Batch:
        """The batch that takes one more request of `size` bytes; its row is held from here on."""
        while True:
            batch, now = self.with_room(build, stage), timezone.now()
            grown = {"requests": F("requests") + 1, "size": F("size") + size}
            if self.filter(pk=batch.pk, has_room=True).update(joined_at=now, **grown):
                full = Q(requests__gte=MOST_REQUESTS) | Q(size__gte=MOST_BYTES)
                self.filter(full, pk=batch.pk).update(has_room=False)
                return batch

    def with_room(self, build: Build, stage: str) -> Batch:
        """The one that requests of a stage join now, made where there is none."""
        now = timezone.now()
        made = {"joined_at": now, "next_poll_at": now + FILLS}
        return self.get_or_create(build=build, stage=stage, has_room=True, defaults=made)[0]

    def awaited(self) -> BatchQuerySet:
        """Those that workers look after; what waits for a person is left alone until then."""
        stopped = Q(build__state=Build.State.WAITING, build__next_probe_at__isnull=True)
        return self.filter(next_poll_at__isnull=False).exclude(stopped)

    def due(self, now: datetime) -> BatchQuerySet:
        """Those that a worker is to look after now."""
        return self.awaited().filter(next_poll_at__lte=now).order_by("next_poll_at")

    def surely(self) -> set[str]:
        """The provider's ids of batches that are surely the ones that they are taken for."""
        named = self.exclude(provider_id="").exclude(is_guessed=True, state=Batch.State.OPEN)
        return set(named.values_list("provider_id", flat=True))

    def wake(self, build: Build) -> None:
        """Have the batches of a stopped build looked at now; one on its way is left to its worker."""
        states = [Batch.State.FILLING, Batch.State.OPEN]
        self.filter(build=build, state__in=states).update(next_poll_at=timezone.now())

    def ways_refused(self, build: Build) -> list[str]:
        """The ways to ask for structured output that entries of the build's batches have complained of."""
        complained = self.filter(build=build).exclude(refused_output_mode="")
        return list(complained.order_by().values_list("refused_output_mode", flat=True).distinct())

    def unfinished(self) -> BatchQuerySet:
        """Those whose requests have not all come back."""
        return self.filter(state__in=[Batch.State.FILLING, Batch.State.SENDING, Batch.State.OPEN])


class Batch(models.Model):
    """Requests of one stage of a build, sent together; `next_poll_at` is None when nothing is left to do."""

    class State(models.TextChoices):
        FILLING = "filling", "takes requests"
        SENDING = "sending", "being sent"
        OPEN = "open", "at the provider"
        ENDED = "ended"
        WITHDRAWN = "withdrawn", "never sent"

    build = models.ForeignKey(Build, on_delete=models.CASCADE, related_name="all_batches")
    stage = models.CharField(max_length=12)
    state = models.CharField(max_length=9, choices=State, default=State.FILLING)
    provider_id = models.CharField(max_length=120, blank=True, help_text="the provider's id of the batch")
    is_guessed = models.BooleanField(
        default=False,
        db_default=False,
        help_text="its id was lost; the provider's that looks like it is taken for it, as no result refutes",
    )
    refuted_ids = models.JSONField(
        default=list, help_text="ids that were taken for this batch and are others'"
    )
    refused_output_mode = models.CharField(
        max_length=12, blank=True, db_default="", help_text="how structured output was asked for in vain"
    )
    has_room = models.BooleanField(default=True, help_text="it is the one that requests of its stage join")
    requests = models.PositiveIntegerField(default=0)
    size = models.PositiveBigIntegerField(default=0, help_text="bytes of its requests")
    answered = models.PositiveIntegerField(default=0, help_text="results with a reply")
    returned = models.PositiveIntegerField(default=0, help_text="results without: asked again")
    unknown_results = models.PositiveIntegerField(
        default=0, help_text="results of requests that nobody has made"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    joined_at = models.DateTimeField(help_text="when the last request joined it")
    sent_at = models.DateTimeField(null=True)
    next_poll_at = models.DateTimeField(null=True, help_text="when a worker looks after it next")
    idle_polls = models.PositiveIntegerField(
        default=0, help_text="looks without news, for the pauses to grow"
    )
    cancelled_at = models.DateTimeField(null=True, help_text="when the provider was asked to stop it")
    ended_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True, help_text="what went wrong at the last look")

    objects = BatchQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["provider_id"], condition=~Q(provider_id=""), name="batch_provider_id_once"
            ),
            models.UniqueConstraint(
                fields=["build", "stage"], condition=Q(has_room=True), name="batch_with_room_once"
            ),
        ]
        indexes = [
            models.Index(fields=["next_poll_at"], condition=Q(next_poll_at__isnull=False), name="batch_due"),
            models.Index(fields=["build", "state", "id"], name="batch_by_build_and_state"),
        ]

    def __str__(self) -> str:
        return f"{self.stage} batch of {self.build} ({self.state})"
