"""What is ordered where a pin is to be computed again."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from retrieval.jobs import JobOrder
from retrieval.models import Job


class Start(models.TextChoices):
    """From where a pin is computed again."""

    LISTS = "lists", "from lists, labels, cases and ratings"
    VECTORS = "vectors", "from vectors: lists are searched again too"
    REPLIES = "replies", "from replies: labels are read again too"


class ReproduceOrder(JobOrder):
    """Compute the pin that the job is about again, from `start` on."""

    kind: ClassVar = Job.Kind.REPRODUCE
    start: Start = Start.LISTS

    def identity(self) -> str:
        """One order for each start."""
        return self.start.value
