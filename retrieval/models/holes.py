"""Unjudged results of runs that somebody is to judge."""

from __future__ import annotations

from django.db import models

from retrieval.models.benchmarks import Benchmark, Run
from retrieval.models.minings import Mining


class Holes(models.Model):
    """The pairs among a run's first results that its benchmark has no label of: the candidates of a mining.

    A build over that mining judges them; the next version of the benchmark has its labels.
    """

    mining = models.OneToOneField(Mining, on_delete=models.CASCADE, primary_key=True, related_name="holes")
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="holes")
    depth = models.PositiveIntegerField(help_text="results of each query that were looked at")
    pairs = models.PositiveIntegerField()
    people = models.BooleanField(default=False, db_default=False, help_text="people judge them, no agent")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.pairs} unjudged results of {self.run}"


def filled_holes_of(benchmark: Benchmark) -> list[Holes]:
    """Those that were filled for it, and for the versions that it goes on from, the last ones first."""
    found: list[Holes] = []
    version: Benchmark | None = benchmark
    while version is not None:
        if version.holes is not None:
            found.append(version.holes)
        version = version.previous_version
    return found
