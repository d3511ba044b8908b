"""How far a job is, for the page that shows it."""

from __future__ import annotations

import time

from django.db import OperationalError, connection, models

SECONDS_BETWEEN_NOTES = 0.5


def note(job: models.Model, **columns: int | str) -> None:
    """Write into the job's row, or leave it out where that can't be now.

    On SQLite nothing can be written beside an open statement, by which the job reads, once another process
    has written; what the job is about must not fail for that.
    """
    try:
        type(job)._default_manager.filter(pk=job.pk).update(**columns)
    except OperationalError:
        if connection.vendor != "sqlite":
            raise


class Progress:
    """Notes in the `job` how much of `total` is done, twice a second and when all of it is."""

    def __init__(self, job: models.Model, total: int) -> None:
        self.job, self.total, self.done, self.noted = job, total, 0, time.monotonic()
        self.note(done=0, total=total)

    def __call__(self, more: int) -> None:
        self.done += more
        is_all = self.done - more < self.total <= self.done
        if is_all or time.monotonic() - self.noted > SECONDS_BETWEEN_NOTES:
            self.noted = time.monotonic()
            self.note(done=min(self.done, self.total))

    def note(self, **columns: int) -> None:
        note(self.job, **columns)


class Stages:
    """Notes in the `job` which stage it is in and how far that is, twice a second and when it is done."""

    def __init__(self, job: models.Model) -> None:
        self.job, self.what, self.done, self.total, self.noted = job, "", 0, 0, time.monotonic()
        self.note()

    def __call__(self, what: str, done: int, total: int) -> None:
        now, begins = time.monotonic(), what != self.what
        self.what, self.done, self.total = what, done, total
        if begins or done == total or now - self.noted > SECONDS_BETWEEN_NOTES:
            self.noted = now
            self.note()

    def note(self) -> None:
        note(self.job, message=self.what, done=self.done, total=self.total)
