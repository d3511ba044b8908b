"""Exports of benchmarks that a worker writes in the background."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from retrieval.models.benchmarks import Benchmark


class ExportJob(models.Model):
    """One export of a benchmark; the file is made by a worker, in a folder of its own under COSQA_HOME."""

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="exports")
    format = models.CharField(max_length=16)
    labels = models.CharField(max_length=8, default="final")
    seed = models.PositiveIntegerField(null=True, help_text="of the split; null = no split")
    by_repository = models.BooleanField(default=False)
    withhold = models.CharField(
        max_length=12, default="none", help_text="by which policy snippets are origin and hash alone"
    )
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    done = models.PositiveIntegerField(default=0, help_text="records written")
    total = models.PositiveIntegerField(default=0)
    size = models.PositiveBigIntegerField(default=0, help_text="bytes of the file")
    warnings = models.JSONField(default=list, help_text="what the format can't say")
    message = models.TextField(blank=True, help_text="why it failed")
    lease_until = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.benchmark} as {self.format} ({self.state})"
