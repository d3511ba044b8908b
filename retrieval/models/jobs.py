"""What people have ordered and a worker carries out in a process of its own, whatever it is."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from retrieval.models.blobs import Digest


class JobQuerySet(models.QuerySet["Job"]):
    """Jobs, the newest first."""

    def open(self) -> Self:
        """Those that wait or run."""
        return self.filter(state__in=Job.OPEN)

    def about(self, kind: Job.Kind, subject: int) -> Self:
        """Those of a kind that are about one row."""
        return self.filter(kind=kind, subject=subject)

    def free(self, kind: Job.Kind, now: datetime) -> Self:
        """Those of a kind that a worker may take up: they wait, or the worker that had them died."""
        left = Q(state=Job.State.RUNNING, lease_until__lt=now)
        return self.filter(Q(state=Job.State.WAITING) | left, kind=kind)


class Job(models.Model):
    """One order: who gave it and when, how it stands, and until when the worker that has it holds it.

    `order` and `result` are documents whose fields the kind says, `subject` is the id of the row that it is
    about: a benchmark, a collection, a pin or a build. None of these is ever deleted while jobs tell of it.
    """

    class Kind(models.TextChoices):
        IMPORT = "import"
        FILTER = "filter"
        EXPORT = "export"
        RUN = "run", "score a run"
        SCORE = "score", "search and figures"
        REPRODUCE = "reproduce"
        PUBLISH = "publish"
        LEAKS = "leaks", "compare with training data"
        TRAIN = "train"
        BUGS = "bugs", "prove distractors"
        SIMILAR = "similar", "compare with answers"

    class State(models.TextChoices):
        COLUMNS = "columns", "choose columns"
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        PARTIAL = "partial", "done in part"
        FAILED = "failed"
        CANCELLED = "cancelled"

    OPEN: Final = (State.WAITING, State.RUNNING)

    kind = models.CharField(max_length=9, choices=Kind)
    subject = models.PositiveBigIntegerField(default=0, help_text="id of the row that it is about; 0: none")
    order = models.JSONField(help_text="what is to be done, as the kind spells it")
    once = Digest(
        max_length=64, blank=True, help_text="what no second open job of the kind may have; empty: any may"
    )
    files = models.JSONField(
        default=dict, blank=True, help_text="uploaded files by name, kept until it has ended"
    )
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    done = models.PositiveIntegerField(default=0, help_text="done in the present stage")
    total = models.PositiveIntegerField(default=0)
    message = models.TextField(blank=True, help_text="the present stage, or why it failed")
    result = models.JSONField(default=dict, blank=True, help_text="what came of it, as the kind spells it")
    lease_until = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["kind", "subject", "-id"], name="job_by_subject")]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "once"],
                condition=Q(state__in=["waiting", "running"]) & ~Q(once=""),
                name="job_open_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.pk} ({self.state})"

    @property
    def is_open(self) -> bool:
        """Whether it waits or runs."""
        return self.state in Job.OPEN
