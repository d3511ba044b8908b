"""Pins that are computed again in the background."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from retrieval.models.figures import Pin
from retrieval.models.orders import OrderedJob


class ReproduceJob(OrderedJob):
    """One order to compute a pin again, from `start` on; its `report` says whether it came out equal."""

    class Start(models.TextChoices):
        LISTS = "lists", "from lists, labels, cases and ratings"
        VECTORS = "vectors", "from vectors: lists are searched again too"
        REPLIES = "replies", "from replies: labels are read again too"

    pin = models.ForeignKey(Pin, on_delete=models.CASCADE, related_name="reproductions")
    start = models.CharField(max_length=8, choices=Start, default=Start.LISTS)
    done = models.PositiveIntegerField(default=0, help_text="parts computed")
    message = models.TextField(blank=True, help_text="why it failed")
    report = models.JSONField(
        null=True, help_text="equal or not, how many figures differ, and the first ones"
    )

    class Meta(OrderedJob.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["pin", "start"],
                condition=Q(state__in=["waiting", "running"]),
                name="reproduce_job_open_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.pin} {self.start} ({self.state})"
