"""The canary of a large build: a few random pairs run to the end before all others are paid for."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from annotation.models.builds import Build


class Canary(models.Model):
    """One build's canary: planned at the launch, its pairs drawn when the mining is done."""

    build = models.OneToOneField(Build, on_delete=models.CASCADE, primary_key=True, related_name="canary")
    seed = models.PositiveBigIntegerField(help_text="draws the pairs, and the resamples of their cost")
    drawn = models.JSONField(default=list, help_text="ids of its candidates, in the order drawn")
    pairs = models.PositiveIntegerField(default=0, help_text="of the whole build")
    done_at = models.DateTimeField(null=True, help_text="when all of its cases were settled or abandoned")
    spent = models.PositiveBigIntegerField(default=0, help_text="nanodollars that the build had spent then")
    decided_at = models.DateTimeField(null=True, help_text="when a person let the build go on")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    rest_opened = models.BooleanField(default=False, help_text="the cases of all other pairs were made")

    class Meta:
        verbose_name_plural = "canaries"

    def __str__(self) -> str:
        return f"canary of {self.build}"
