"""What was found about the machines that execute and about the servers that are asked."""

from __future__ import annotations

from django.conf import settings
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


class ConnectionTest(models.Model):
    """Somebody had a server of language models asked what it can do; kept with what was found and paid."""

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    base_url = models.CharField(max_length=400)
    configured = models.BooleanField(help_text="the configured address, asked with the configured key")
    model = models.CharField(max_length=120)
    profile = models.CharField(max_length=400, help_text="the provider profile that it is compared with")
    caching = models.BooleanField(default=False, help_text="prompt caching was tried too")
    batches = models.BooleanField(default=False, db_default=False, help_text="a batch was tried too")
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    message = models.TextField(blank=True, help_text="why it failed")
    findings = models.JSONField(default=list, help_text="tried, works and told of each")
    toml = models.TextField(blank=True, help_text="the profile that fits the server")
    calls = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    cost = models.PositiveBigIntegerField(null=True, help_text="nanodollars; null where no price is known")
    bound = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="nanodollars held of the project's money while it runs"
    )
    latency = models.FloatField(null=True, help_text="seconds, the median of the replies")
    lease_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"test of {self.base_url} with {self.model} ({self.state})"

    @property
    def is_open(self) -> bool:
        """Whether a result is still to come."""
        return self.state in {self.State.WAITING, self.State.RUNNING}
