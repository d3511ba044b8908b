"""Uploaded files that a worker imports in the background."""

from __future__ import annotations

import re
from typing import Final
from uuid import uuid4

from django.conf import settings
from django.db import models

OWN_FOLDER: Final = re.compile("[0-9a-f]{32}")


def place(job: models.Model | None, name: str) -> str:
    """A folder for each file, so that it keeps the name that people gave it: that is told as its source."""
    return f"imports/{uuid4().hex}/{name}"


class ImportJob(models.Model):
    """One order to import uploaded files. A table waits for its columns to be chosen before a worker may.

    `options` are what the format asks beside its files, as `retrieval.uploads` reads them. `addresses` are
    where files are that a worker has to download first, by the names of their columns; a cancelled import
    keeps what it had stored.
    """

    class State(models.TextChoices):
        COLUMNS = "columns", "choose columns"
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    OPEN: Final = (State.WAITING, State.RUNNING)
    WITH_FILES: Final = (State.COLUMNS, *OPEN)

    class Format(models.TextChoices):
        COSQA = "cosqa", "CoSQA: queries and a code base (JSON)"
        COSQA_PLUS = "cosqa-plus", "CoSQA\u207a: a release as three JSON files, or as a zip of them"
        RELEASE = "release", "An export of ours: the zip of a release, as a benchmark again"
        TABLE = "table", "A table of your own: CSV, TSV, JSON Lines or JSON, columns chosen next"
        BEIR = "beir", "BEIR or MTEB: a zip of corpus, queries and qrels"
        QRELS = "qrels", "TREC qrels, or CodeSearchNet\u2019s annotations: labels of what is there"
        PYTHON = "python", "Python: a source file, a wheel, an sdist or a zip of sources"
        DOCUMENTED = (
            "documented",
            "Python or Java: documented functions, their documentation as queries",
        )
        CODESEARCHNET = "codesearchnet", "CodeSearchNet: functions of six languages (JSON Lines, or its zips)"
        STAQC = "staqc", "StaQC: a pickle of Stack Overflow code"
        NCS = "ncs", "Neural Code Search: questions with their answers (JSON)"

    name = models.CharField(max_length=120)
    format = models.CharField(max_length=16, choices=Format)
    file = models.FileField(
        upload_to=place, max_length=300, blank=True, help_text="kept until the job has ended"
    )
    codebase = models.FileField(upload_to=place, max_length=300, blank=True)
    pairs = models.FileField(upload_to=place, max_length=300, blank=True)
    titles = models.FileField(upload_to=place, max_length=300, blank=True)
    options = models.JSONField(default=dict, blank=True)
    addresses = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=12, choices=State, default=State.WAITING)
    read = models.PositiveIntegerField(default=0)
    stored = models.PositiveIntegerField(default=0)
    unreadable = models.PositiveIntegerField(default=0)
    percent = models.PositiveSmallIntegerField(null=True, help_text="of the bytes of its files that are read")
    problems = models.JSONField(default=list, help_text="the first problems, as text")
    message = models.TextField(blank=True)
    lease_until = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.state})"
