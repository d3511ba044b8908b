"""What the machines that execute test programs found about their own sandbox."""

from __future__ import annotations

from django.db import models


class SandboxCheck(models.Model):
    """The newest check of one machine's sandbox; the web process only reads it."""

    machine = models.CharField(max_length=255, unique=True)
    backend = models.CharField(max_length=40, blank=True)
    image = models.CharField(max_length=200, blank=True)
    checks = models.JSONField(default=list, help_text="name, ok, found, required and advice of each")
    failure = models.TextField(blank=True, help_text="why nothing is executed there")
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["machine"]

    def __str__(self) -> str:
        return f"sandbox of {self.machine}"
