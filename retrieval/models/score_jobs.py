"""What a benchmark's leaderboard is to have and a page can't wait for, computed in the background."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from retrieval.models.benchmarks import Benchmark, Pool, Run
from retrieval.models.blobs import Digest
from retrieval.models.orders import OrderedJob


class ScoreJob(OrderedJob):
    """One order to search by encoders and score that, or to compute figures; while it is open it is this one.

    `options` say of figures by which metric, over which queries, and which share of labels is taken as wrong.
    """

    class What(models.TextChoices):
        SYSTEM = "system", "search and scores"
        FIGURES = "figures", "intervals, differences and label errors"
        WITHOUT = "without", "ranks without each encoder"

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="score_jobs")
    what = models.CharField(max_length=8, choices=What)
    system = models.CharField(max_length=120, blank=True, help_text="encoders, joined by +")
    text_option = models.CharField(max_length=24, blank=True)
    pool = models.CharField(max_length=10, choices=Pool)
    options = models.JSONField(default=dict)
    digest = Digest(max_length=64, help_text="sha256 of what is ordered")
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    done = models.PositiveIntegerField(default=0, help_text="done in the present stage")
    total = models.PositiveIntegerField(default=0)
    message = models.TextField(blank=True, help_text="the present stage, or why it failed")
    notes = models.JSONField(default=list, help_text="what its figures rest on")
    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, null=True, related_name="+", help_text="what it became"
    )

    class Meta(OrderedJob.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["digest"], condition=Q(state__in=["waiting", "running"]), name="score_job_open_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.system or self.get_what_display()} on {self.benchmark} ({self.state})"
