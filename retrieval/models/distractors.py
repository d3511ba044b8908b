"""Functions with a planted bug that a test proved: labelled non-matches that look like an answer."""

from __future__ import annotations

from django.db import models

from retrieval.models.benchmarks import Benchmark
from retrieval.models.texts import Pair, Text


class Distractor(models.Model):
    """A match of a benchmark with one bug put into it, and the run of a test that shows the bug.

    The test passed beside the parent and failed beside this. `program` and `run` are ids of the workbench
    that made it; the program's text is kept, so that a release says what was tested.
    """

    benchmark = models.ForeignKey(
        Benchmark, on_delete=models.CASCADE, related_name="distractors", db_index=False
    )
    pair = models.ForeignKey(
        Pair,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="the query with the function that has the bug",
    )
    parent = models.ForeignKey(
        Text, on_delete=models.PROTECT, related_name="+", db_index=False, help_text="the match"
    )
    kind = models.CharField(max_length=20)
    line = models.PositiveIntegerField()
    before = models.TextField()
    after = models.TextField()
    program = models.PositiveBigIntegerField(help_text="id of the test program")
    source = models.TextField(help_text="the test program")
    run = models.PositiveBigIntegerField(help_text="id of the run in which it failed")

    class Meta:
        ordering = ["benchmark", "id"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "pair"], name="distractor_once")]

    def __str__(self) -> str:
        return f"{self.kind} in line {self.line} of {self.parent_id}"
