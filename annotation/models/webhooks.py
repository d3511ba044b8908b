"""Webhooks: addresses that are told of events, and what was, or is to be, sent to each."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Webhook(models.Model):
    """An address of another program. Its secret is not stored: `annotation.webhooks.signature` derives it."""

    class Event(models.TextChoices):
        BUILD_DONE = "build.done", "build done"
        BUILD_PAUSED = "build.paused", "build paused by a person"
        BUILD_NEEDS_PERSON = "build.needs_person", "build needs a person"
        STUDY_DONE = "study.done", "study done"

    name = models.CharField(max_length=80, unique=True)
    address = models.CharField(max_length=500)
    events = models.JSONField(default=list, help_text="of which events it is told")
    salt = models.CharField(max_length=32, help_text="with the server's key it gives the secret")
    digest = models.CharField(max_length=64, help_text="sha256 of the secret: whether that is still the same")
    is_on = models.BooleanField(default=True)
    off_reason = models.CharField(max_length=200, blank=True, help_text="why the workbench switched it off")
    failing_since = models.DateTimeField(null=True, help_text="when it began that nothing arrives")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class WebhookDelivery(models.Model):
    """One event for one webhook: written with what causes it, sent by a worker until it arrives."""

    class State(models.TextChoices):
        WAITING = "waiting", "not sent yet"
        SENT = "sent"
        FAILED = "failed"

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    message = models.CharField(max_length=40, unique=True, help_text="its id, the same at each try")
    event = models.CharField(max_length=30)
    body = models.TextField(help_text="JSON, the same bytes at each try")
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(help_text="when it is tried next, unless its worker says otherwise before")
    tried_at = models.DateTimeField(null=True, help_text="when the last try began")
    status = models.PositiveSmallIntegerField(null=True, help_text="HTTP's, of the last answer")
    answer = models.CharField(max_length=300, blank=True, help_text="how the last answer begins")
    error = models.CharField(max_length=300, blank=True, help_text="why the last try failed")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "webhook deliveries"
        indexes = [
            models.Index(fields=["due_at"], condition=models.Q(state="waiting"), name="webhook_delivery_due")
        ]

    def __str__(self) -> str:
        return f"{self.event}: {self.state}"
