"""How a build goes on after its launch: extended by further pairs, or run again from a stage on."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from annotation.models.builds.build import Build
from annotation.models.builds.cases import CHOICES, Case
from retrieval.models import Mining


class Extension(models.Model):
    """Further pairs for a build: a mining of its own, of which the build judges what it has not got yet.

    A large paid one is at its canary first (`canary`); `left`: after it nobody wanted the other pairs.
    """

    class State(models.TextChoices):
        MINING = "mining"
        CANARY = "canary"
        OPENED = "opened"
        LEFT = "left"
        CANCELLED = "cancelled"
        FAILED = "failed"

    build = models.ForeignKey(Build, on_delete=models.CASCADE, related_name="extensions")
    number = models.PositiveIntegerField(help_text="from 1, in the build")
    mining = models.OneToOneField(Mining, on_delete=models.PROTECT, related_name="extension")
    state = models.CharField(max_length=9, choices=State, default=State.MINING)
    description = models.CharField(max_length=400, help_text="what was asked for")
    pairs = models.PositiveIntegerField(null=True, help_text="new ones that have become cases")
    estimate = models.JSONField(null=True, help_text="what it was expected to take when it was confirmed")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    reason = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, help_text="when its cases were made, or it came to nothing")

    IN_BUILD = (State.CANARY, State.OPENED, State.LEFT)
    """The states in which the build has pairs of it."""

    class Meta:
        ordering = ["build", "number"]
        constraints = [models.UniqueConstraint(fields=["build", "number"], name="extension_once")]

    def __str__(self) -> str:
        return f"extension {self.number} of {self.build}"


class Rerun(models.Model):
    """A build that takes cases of another up at a stage, with everything before it as it was there."""

    build = models.OneToOneField(Build, on_delete=models.CASCADE, primary_key=True, related_name="rerun")
    of = models.ForeignKey(Build, on_delete=models.PROTECT, related_name="reruns")
    stage = models.CharField(max_length=12, choices=CHOICES)
    spot_check = models.BooleanField(
        default=False, db_default=False, help_text="its cases were clear to the screener and are tested"
    )
    cases = models.ManyToManyField(Case, related_name="+", help_text="the cases that were chosen")
    description = models.CharField(max_length=400, help_text="how they were chosen")
    reason = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"{self.build}: {self.of} again from {self.stage}"
