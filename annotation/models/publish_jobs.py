"""Benchmarks of a build's pairs that a worker publishes in the background."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.builds import Build
from retrieval.models import Benchmark, Pool


class PublishJob(models.Model):
    """One order to publish a build's pairs; a build has one that waits or runs, or none.

    One that `fills` publishes the next version of the benchmark whose holes the build judged, and scores that
    one's runs by it: what is counted then are queries scored.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    OPEN: Final = (State.WAITING, State.RUNNING)

    build = models.ForeignKey(Build, on_delete=models.CASCADE, related_name="publish_jobs")
    name = models.CharField(max_length=120)
    pool = models.CharField(max_length=10, choices=Pool)
    fills = models.BooleanField(
        default=False, db_default=False, help_text="the next version of the benchmark whose holes these are"
    )
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    done = models.PositiveIntegerField(default=0, help_text="pairs looked at, or queries scored")
    total = models.PositiveIntegerField(default=0)
    message = models.TextField(blank=True, help_text="why it failed")
    benchmark = models.ForeignKey(
        Benchmark, on_delete=models.CASCADE, null=True, related_name="+", help_text="what it became"
    )
    lease_until = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["build"],
                condition=Q(state__in=["waiting", "running"]),
                name="publish_job_open_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.build} as {self.name} ({self.state})"
