"""What a build's page tells beside the totals: costs by agent, times of pairs, progress over time.

All of it is counted where it happens, under the lock of the build's totals; nothing is added up on reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, log
from typing import Any, Final

from django.db import models

from annotation.models.builds.build import Build
from retrieval.models import statements

GROWTH: Final = 1.1
"""Each class of a histogram of times ends a tenth later than the one before: quantiles are right to 5 %."""


def increment_figure_counters(kind: type[models.Model], row: Mapping[str, Any], **deltas: int) -> None:
    """Add to the counters of the row that `row` names by its columns, made where it is not there yet.

    Callers hold the lock of the build's totals, so that nobody makes the row meanwhile.
    """
    if not statements.update_rows(kind, row, grow=deltas):
        kind._default_manager.create(**row, **deltas)


class AgentBill(models.Model):
    """What one agent has cost a build. Calls that were reused are in the bill of the build that paid."""

    build = models.ForeignKey(Build, on_delete=models.CASCADE, related_name="bills")
    agent = models.CharField(max_length=40)
    calls = models.PositiveIntegerField(default=0, db_default=0, help_text="that had a reply")
    input_tokens = models.PositiveBigIntegerField(default=0, db_default=0)
    output_tokens = models.PositiveBigIntegerField(default=0, db_default=0)
    spent = models.BigIntegerField(default=0, db_default=0, help_text="nanodollars")
    milliseconds = models.PositiveBigIntegerField(default=0, db_default=0, help_text="of all its calls")

    class Meta:
        ordering = ["build", "agent"]
        constraints = [models.UniqueConstraint(fields=["build", "agent"], name="agent_bill_once")]

    def __str__(self) -> str:
        return f"{self.agent}: {self.calls} calls"


class Duration(models.Model):
    """How many pairs of a build took about so long, from the work of their stages; a histogram's class."""

    class Path(models.TextChoices):
        CLEAR = "clear", "settled by the screener"
        UNCLEAR = "unclear", "tested"

    build = models.ForeignKey(Build, on_delete=models.CASCADE, related_name="durations")
    path = models.CharField(max_length=7, choices=Path)
    bucket = models.PositiveSmallIntegerField(help_text="class of the time, see bucket_of")
    cases = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        ordering = ["build", "path", "bucket"]
        constraints = [models.UniqueConstraint(fields=["build", "path", "bucket"], name="duration_once")]

    def __str__(self) -> str:
        return f"{self.cases} {self.path} pairs of about {bucket_midpoint_seconds(self.bucket):.3g} s"


def bucket_of(seconds: float) -> int:
    """The histogram's class of a time; 0 for less than a millisecond."""
    milliseconds = seconds * 1000
    return 0 if milliseconds < 1 else 1 + floor(log(milliseconds, GROWTH))


def bucket_midpoint_seconds(bucket: int) -> float:
    """Seconds in the (geometric) middle of a class."""
    return 0.0 if bucket == 0 else float(GROWTH ** (bucket - 0.5)) / 1000


class Abandonment(models.Model):
    """How many cases of a build are abandoned for one cause in one stage, now."""

    build = models.ForeignKey(Build, on_delete=models.CASCADE, related_name="abandonments")
    cause = models.CharField(max_length=130, blank=True)
    left_stage = models.CharField(max_length=12, help_text="the stage that the cases left")
    cases = models.IntegerField(default=0, db_default=0)

    class Meta:
        ordering = ["build", "-cases", "cause", "left_stage"]
        constraints = [
            models.UniqueConstraint(fields=["build", "cause", "left_stage"], name="abandonment_once")
        ]

    def __str__(self) -> str:
        return f"{self.cases} abandoned in {self.left_stage}: {self.cause}"


class Moment(models.Model):
    """A build's totals at one moment, for its charts; appended, ever more rarely as the build ages."""

    build = models.ForeignKey(Build, on_delete=models.CASCADE, related_name="moments")
    at = models.DateTimeField()
    total = models.PositiveIntegerField()
    settled = models.PositiveIntegerField()
    abandoned = models.PositiveIntegerField()
    spent = models.PositiveBigIntegerField(help_text="nanodollars")

    class Meta:
        ordering = ["build", "at"]
        indexes = [models.Index(fields=["build", "at"], name="moment_by_build")]

    def __str__(self) -> str:
        return f"{self.settled} settled at {self.at}"
