"""How many calls to one model may be in the air at once."""

from __future__ import annotations

from django.db import models


class Limiter(models.Model):
    """What all workers have learned of a model's rate limit; see `annotation.builds.limits.rate_limit`."""

    model = models.CharField(max_length=120, unique=True)
    max_in_flight = models.FloatField(help_text="calls in the air at once")
    slowed_until = models.DateTimeField(null=True, help_text="until then refusals belong to one episode")
    closed_until = models.DateTimeField(null=True, help_text="until then nothing is asked")

    def __str__(self) -> str:
        return f"{self.model}: at most {self.max_in_flight:.0f} at once"
