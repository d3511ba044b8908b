"""Pins that are computed again in the background."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.db import models
from django.db.models import Q

from retrieval.models.figures import Pin


class ReproduceJob(models.Model):
    """One order to compute a pin again, from `start` on; its `report` says whether it came out equal."""

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    OPEN: Final = (State.WAITING, State.RUNNING)

    class Start(models.TextChoices):
        LISTS = "lists", "from lists, labels, cases and ratings"
        VECTORS = "vectors", "from vectors: lists are searched again too"
        REPLIES = "replies", "from replies: labels are read again too"

    pin = models.ForeignKey(Pin, on_delete=models.CASCADE, related_name="reproductions")
    start = models.CharField(max_length=8, choices=Start, default=Start.LISTS)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    done = models.PositiveIntegerField(default=0, help_text="parts computed")
    message = models.TextField(blank=True, help_text="why it failed")
    report = models.JSONField(
        null=True, help_text="equal or not, how many figures differ, and the first ones"
    )
    lease_until = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["pin", "start"],
                condition=Q(state__in=["waiting", "running"]),
                name="reproduce_job_open_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.pin} {self.start} ({self.state})"
