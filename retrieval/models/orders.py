"""What all orders have in common that a worker carries out in a process of its own."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.db import models


class OrderedJob(models.Model):
    """Who ordered it and when, how it stands, and until when the worker that has it holds it."""

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    OPEN: Final = (State.WAITING, State.RUNNING)

    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    lease_until = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True
        ordering = ["-id"]
