"""Uploaded ranked lists that are scored on a benchmark in the background."""

from __future__ import annotations

from uuid import uuid4

from django.db import models
from django.db.models import Q

from retrieval.models.benchmarks import Benchmark, Pool, Run
from retrieval.models.blobs import Digest
from retrieval.models.orders import OrderedJob


def place(job: models.Model, name: str) -> str:
    """Where an uploaded file is kept: what people call it is a column, and never a path."""
    return f"runs/{uuid4().hex}"


class RunJob(OrderedJob):
    """One order to score a file of ranked lists; while it waits or runs, the same order is this one."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="run_jobs")
    system = models.CharField(max_length=120)
    source = models.CharField(max_length=400, help_text="name of the file")
    file = models.FileField(
        upload_to=place, max_length=300, blank=True, help_text="kept until the job has ended"
    )
    text_option = models.CharField(max_length=24, blank=True, help_text="empty: not known")
    pool = models.CharField(max_length=10, choices=Pool)
    language = models.CharField(max_length=40, blank=True, help_text="only these rows; empty: all")
    digest = Digest(max_length=64, help_text="sha256 of what is ordered, with the file")
    done = models.PositiveIntegerField(default=0, help_text="queries scored")
    total = models.PositiveIntegerField(default=0)
    message = models.TextField(blank=True, help_text="why it failed")
    notes = models.JSONField(default=list, help_text="what its figures rest on, and what was unknown")
    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, null=True, related_name="+", help_text="what it became"
    )

    class Meta(OrderedJob.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["digest"], condition=Q(state__in=["waiting", "running"]), name="run_job_open_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.source} as {self.system} on {self.benchmark} ({self.state})"
