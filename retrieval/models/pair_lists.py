"""Lists of given pairs, which are judged as they are: those that a benchmark labels, or a file lists."""

from __future__ import annotations

from django.db import models

from retrieval.models.benchmarks import Benchmark
from retrieval.models.blobs import Digest
from retrieval.models.collections import Collection


class PairList(models.Model):
    """Pairs that somebody gave, in the place of a mining: its candidates have ranks and no scores.

    The labels that they came with are those of `benchmark`; a pair that it has no label of came without one.
    """

    name = models.CharField(max_length=120, help_text="the benchmark's, or the file's")
    source = models.CharField(max_length=400, blank=True, help_text="name of the file; empty: a benchmark")
    queries = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="+")
    snippets = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="+")
    benchmark = models.ForeignKey(
        Benchmark,
        null=True,
        on_delete=models.PROTECT,
        related_name="pair_lists",
        help_text="has the labels that the pairs came with; none: they came without",
    )
    digest = Digest(max_length=64, help_text="sha256 of the file, or of the benchmark")
    size = models.PositiveIntegerField(default=0, help_text="pairs")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["digest", "queries", "snippets", "source", "benchmark"], name="pair_list_once"
            )
        ]

    @property
    def asked(self) -> int:
        """How many queries its pairs have."""
        return self.candidates.order_by().values("query").distinct().count()

    def __str__(self) -> str:
        return f"given pairs of {self.name}"
