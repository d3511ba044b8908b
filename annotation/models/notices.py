"""What people outside were told of a build, once an episode, and how each way of telling them went."""

from __future__ import annotations

from django.db import models

from annotation.models.builds.build import Build


class Notice(models.Model):
    """One episode worth a message. The unique key holds with any number of workers, and after restarts."""

    class Kind(models.TextChoices):
        FINISHED = "finished", "build finished"
        STOPPED = "stopped", "stopped for a person"
        WAITING = "waiting", "waiting for the provider"
        CANARY = "canary", "canary done"
        NEARLY_SPENT = "cap_80", "80 % of the cap is spent"
        SPENT = "cap_100", "the cap is used up"
        PROJECT_NEARLY_SPENT = "all_80", "80 % of the project's cap is spent"
        PROJECT_SPENT = "all_100", "the project's cap is used up"
        NO_WORKER = "no_worker", "no worker for 5 minutes"
        TEST = "test", "a test"

    kind = models.CharField(max_length=9, choices=Kind)
    episode = models.CharField(max_length=120, help_text="what it is about, and since when")
    build = models.ForeignKey(Build, on_delete=models.CASCADE, null=True, related_name="notices")
    text = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(fields=["kind", "episode"], name="notice_once")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} ({self.episode})"


class Delivery(models.Model):
    """One notice on one way. A try that was begun is never begun again by another worker."""

    class Channel(models.TextChoices):
        MAIL = "mail", "e-mail"
        COMMAND = "command", "command"

    class State(models.TextChoices):
        WAITING = "waiting"
        SENDING = "sending"
        SENT = "sent"
        FAILED = "failed"
        LOST = "lost", "nobody knows whether it arrived"

    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="deliveries")
    channel = models.CharField(max_length=7, choices=Channel)
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(help_text="when it is tried next")
    begun_at = models.DateTimeField(null=True, help_text="when the last try began")
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "deliveries"
        constraints = [models.UniqueConstraint(fields=["notice", "channel"], name="delivery_once")]
        indexes = [
            models.Index(
                fields=["due_at"], condition=models.Q(state__in=["waiting", "sending"]), name="delivery_due"
            )
        ]

    def __str__(self) -> str:
        return f"{self.channel}: {self.state}"


class Pulse(models.Model):
    """The last sign of life of a queue's workers, and since when its work waits for one."""

    queue = models.CharField(max_length=12, unique=True)
    at = models.DateTimeField(null=True, help_text="when a worker last looked at the queue")
    wanted_since = models.DateTimeField(null=True, help_text="since when there is work at every look")
    looked_at = models.DateTimeField(null=True, help_text="when that was last looked at")

    def __str__(self) -> str:
        return f"{self.queue}: {self.at}"
