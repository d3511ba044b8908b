"""How far a job is, for the page that shows it."""

from __future__ import annotations

import time
from typing import Any

from django.db import OperationalError, connection

from retrieval.models import Job
from retrieval.texts.plurals import count_noun

SECONDS_BETWEEN_NOTES = 0.5


def record_job_progress(job: Job, **columns: Any) -> None:
    """Write into the job's row, or leave it out where that can't be now.

    On SQLite nothing can be written beside an open statement, by which the job reads, once another process
    has written; what the job is about must not fail for that.
    """
    try:
        Job.objects.filter(pk=job.pk).update(**columns)
    except OperationalError:
        if connection.vendor != "sqlite":
            raise


class Progress:
    """Notes in the `job` how much of `total` is done, twice a second and when all of it is."""

    def __init__(self, job: Job, total: int) -> None:
        self.job, self.total, self.done, self.noted = job, total, 0, time.monotonic()
        self.note(done=0, total=total)

    def __call__(self, more: int) -> None:
        self.done += more
        is_all = self.done - more < self.total <= self.done
        if is_all or time.monotonic() - self.noted > SECONDS_BETWEEN_NOTES:
            self.noted = time.monotonic()
            self.note(done=min(self.done, self.total))

    def note(self, **columns: int) -> None:
        record_job_progress(self.job, **columns)


class Stages:
    """Notes in the `job` which stage it is in and how far that is, twice a second and when it is done.

    With the name of a `member` also how many of these a second.
    """

    def __init__(self, job: Job, total: int = 0, member: str = "") -> None:
        self.job, self.what, self.done, self.total, self.member = job, "", 0, total, member
        self.began = self.noted = time.monotonic()
        self.note("")

    def __call__(self, what: str, done: int, total: int) -> None:
        now, begins = time.monotonic(), what != self.what
        if begins:
            self.began = now
        self.what, self.done, self.total = what, done, total
        if begins or done == total or now - self.noted > SECONDS_BETWEEN_NOTES:
            self.noted = now
            self.note(self.rate(now))

    def rate(self, now: float) -> str:
        """What is said behind the stage."""
        done = round(self.done / max(now - self.began, 0.001))
        return f": {count_noun(done, self.member)} a second" if self.member else ""

    def note(self, rate: str) -> None:
        record_job_progress(self.job, message=f"{self.what}{rate}", done=self.done, total=self.total)


class Parts:
    """Notes in the `job`, twice a second, how many parts of nobody knows how many are done."""

    def __init__(self, job: Job) -> None:
        self.job, self.done, self.noted = job, 0, time.monotonic()

    def __call__(self) -> None:
        self.done += 1
        if time.monotonic() - self.noted > SECONDS_BETWEEN_NOTES:
            self.noted = time.monotonic()
            record_job_progress(self.job, done=self.done)
