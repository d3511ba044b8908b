"""Encoders of spec files that were used here: what their names stand for in minings and runs."""

from __future__ import annotations

from django.db import models


class EncoderSpec(models.Model):
    """One spec, stored whole when a mining is ordered or a run made by it; never changed.

    `spec` has all of it, `folder` as it was where it was used first; `weights` is what they are known by,
    empty until the model was loaded once.
    """

    name = models.CharField(max_length=40, unique=True)
    spec = models.JSONField()
    weights = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
