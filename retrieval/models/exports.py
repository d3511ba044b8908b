"""Exports of benchmarks that a worker writes in the background."""

from __future__ import annotations

from django.db import models

from retrieval.models.benchmarks import Benchmark
from retrieval.models.orders import OrderedJob


class ExportJob(OrderedJob):
    """One export of a benchmark; the file is made by a worker, in a folder of its own under COSQA_HOME."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="exports")
    format = models.CharField(max_length=16)
    labels = models.CharField(max_length=8, default="final")
    seed = models.PositiveIntegerField(null=True, help_text="of the split; null = no split")
    by_repository = models.BooleanField(default=False)
    withhold = models.CharField(
        max_length=12, default="none", help_text="by which policy snippets are origin and hash alone"
    )
    done = models.PositiveIntegerField(default=0, help_text="records written")
    total = models.PositiveIntegerField(default=0)
    size = models.PositiveBigIntegerField(default=0, help_text="bytes of the file")
    warnings = models.JSONField(default=list, help_text="what the format can't say")
    message = models.TextField(blank=True, help_text="why it failed")

    def __str__(self) -> str:
        return f"{self.benchmark} as {self.format} ({self.state})"
