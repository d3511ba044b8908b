"""How far a job is, for the page that shows it."""

from __future__ import annotations

import time

from django.db import models

SECONDS_BETWEEN_NOTES = 0.5


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
        type(self.job)._default_manager.filter(pk=self.job.pk).update(**columns)


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
        rows = type(self.job)._default_manager.filter(pk=self.job.pk)
        rows.update(message=self.what, done=self.done, total=self.total)
