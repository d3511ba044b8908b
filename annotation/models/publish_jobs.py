"""Benchmarks of a build's pairs that a worker publishes in the background."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models.builds import Build
from retrieval.models import Benchmark, Pool
from retrieval.models.orders import OrderedJob


class PublishJob(OrderedJob):
    """One order to publish a build's pairs; a build has one that waits or runs, or none.

    One that `corrects` a benchmark publishes its next version with the labels of the build's given pairs.
    One that `fills` publishes the next version of the benchmark whose holes the build judged, and scores that
    one's runs by it: what is counted then are queries scored.
    """

    build = models.ForeignKey(Build, on_delete=models.CASCADE, related_name="publish_jobs")
    name = models.CharField(max_length=120)
    pool = models.CharField(max_length=10, choices=Pool)
    fills = models.BooleanField(
        default=False, db_default=False, help_text="the next version of the benchmark whose holes these are"
    )
    corrects = models.ForeignKey(
        Benchmark,
        on_delete=models.CASCADE,
        null=True,
        related_name="+",
        help_text="whose labels the build's given pairs correct",
    )
    done = models.PositiveIntegerField(default=0, help_text="pairs looked at, or queries scored")
    total = models.PositiveIntegerField(default=0)
    message = models.TextField(blank=True, help_text="why it failed")
    benchmark = models.ForeignKey(
        Benchmark, on_delete=models.CASCADE, null=True, related_name="+", help_text="what it became"
    )

    class Meta(OrderedJob.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["build"],
                condition=Q(state__in=["waiting", "running"]),
                name="publish_job_open_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.build} as {self.name} ({self.state})"
