"""The drift check of a build: the same few pairs asked again and again. Is the model still the same?"""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models.builds.build import Build
from annotation.models.builds.calls import LLMCall
from annotation.models.builds.cases import Case


class DriftWatch(models.Model):
    """One build's drift check: ordered at the launch, its pairs drawn when its cases are there."""

    build = models.OneToOneField(Build, on_delete=models.CASCADE, primary_key=True, related_name="drift")
    seed = models.PositiveBigIntegerField(help_text="draws the pairs")
    every = models.PositiveIntegerField(help_text="settled cases between two checks")
    drawn = models.JSONField(default=list, help_text="ids of the cases whose pairs are asked, as drawn")
    max_checks = models.PositiveIntegerField(default=0, help_text="so many checks the whole build can have")

    class Meta:
        verbose_name_plural = "drift watches"

    def __str__(self) -> str:
        return f"drift check of {self.build}"


class DriftCheck(models.Model):
    """All pairs asked once more, or twice where it is the baseline that later checks are compared with."""

    watch = models.ForeignKey(DriftWatch, on_delete=models.CASCADE, related_name="checks")
    number = models.PositiveIntegerField()
    is_baseline = models.BooleanField()
    settled = models.PositiveIntegerField(help_text="settled cases of the build when it began")
    began_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    agreed = models.PositiveIntegerField(default=0, help_text="pairs with the same verdict as at first")
    higher = models.PositiveIntegerField(default=0, help_text="pairs with a higher verdict than at first")
    lower = models.PositiveIntegerField(default=0, help_text="pairs with a lower verdict than at first")
    judged_once = models.PositiveIntegerField(
        default=0, help_text="pairs with a verdict at one of both times alone"
    )
    odd_ones = models.PositiveIntegerField(
        default=0, help_text="pairs of which exactly one of three answers differs from both others"
    )
    new_odd_ones = models.PositiveIntegerField(
        default=0, help_text="of them, those where it is the new answer"
    )
    p_value = models.FloatField(null=True, help_text="none for a baseline")
    level = models.FloatField(null=True, help_text="below this p-value it is a shift")
    shifted = models.BooleanField(default=False, help_text="beyond chance")
    cost = models.PositiveBigIntegerField(default=0, help_text="nanodollars, of all its calls")

    class Meta:
        ordering = ["watch", "number"]
        constraints = [models.UniqueConstraint(fields=["watch", "number"], name="drift_check_once")]

    def __str__(self) -> str:
        return f"{'baseline' if self.is_baseline else 'check'} {self.number} of {self.watch}"


class DriftAnswer(models.Model):
    """One question of a check and what was answered; `verdict` stays empty where no verdict could be read."""

    check_of = models.ForeignKey(DriftCheck, on_delete=models.CASCADE, related_name="answers")
    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="+")
    round = models.PositiveSmallIntegerField(default=1, help_text="a baseline asks everything twice")
    verdict = models.FloatField(null=True)
    explanation = models.TextField(blank=True, help_text="the explanation, or why there is no verdict")
    call = models.ForeignKey(LLMCall, on_delete=models.PROTECT, null=True, related_name="+")
    answered_at = models.DateTimeField(null=True)
    lease = models.UUIDField(null=True, help_text="fences the worker that asks")
    lease_until = models.DateTimeField(null=True)
    next_attempt_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["check_of", "case", "round"], name="drift_answer_once")
        ]
        indexes = [models.Index(fields=["id"], condition=Q(answered_at__isnull=True), name="drift_open")]

    def __str__(self) -> str:
        return f"{self.case} in {self.check_of}"
