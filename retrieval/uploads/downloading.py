"""Files of an import that lie at an address: ordered in the form, downloaded by the worker that imports."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from django.conf import settings

from retrieval.models import ImportJob
from retrieval.sources import Problem
from retrieval.sources.download import NotDownloaded, Terms, Unreached, fetch
from retrieval.sources.table import peek
from retrieval.uploads.closing import fail
from retrieval.uploads.files import by_name

SECONDS_BETWEEN_WORDS: Final = 1.0
MB: Final = 2**20
TRIES: Final = 3
OFFLINE: Final = "Is the server offline? Then download it elsewhere, and upload the file itself."


def gather(job: ImportJob) -> bool:
    """Whether the job can be imported now, all its files being there.

    What can't be downloaded fails it with the reason; a table that was downloaded waits for its columns.
    """
    if not job.addresses:
        return True
    try:
        for column, address in job.addresses.items():
            _fetch(job, address, Path(getattr(job, column).path))
    except NotDownloaded as why:
        offline = f" {OFFLINE}" if isinstance(why, Unreached) else ""
        fail(job, f"Not downloaded: {by_name(job, why.why)}.{offline}")
        return False
    return job.format != ImportJob.Format.TABLE or bool(job.options) or _asks_columns(job)


def _fetch(job: ImportJob, address: str, file: Path) -> None:
    """Download one file; what is cut off goes on a few times. Raises NotDownloaded."""
    for left in range(TRIES, 0, -1):
        try:
            fetch(address, file.parent, tick=_Told(job, file.name).tick, terms=_terms())
            return
        except NotDownloaded as why:
            if not why.retryable or left == 1:
                raise


def _terms() -> Terms:
    return Terms(settings.DOWNLOAD_MB * MB, strangers=not settings.DOWNLOAD_PRIVATE)


def _asks_columns(job: ImportJob) -> bool:
    seen = peek(Path(job.file.path))
    if isinstance(seen, Problem):
        fail(job, f"No record of it can be read: {by_name(job, str(seen))}")
    else:
        running = ImportJob.objects.filter(pk=job.pk, state=ImportJob.State.RUNNING)
        running.update(state=ImportJob.State.COLUMNS, lease_until=None, message="")
    return False


class _Told:
    """Says once a second in the job how much of a file is there."""

    def __init__(self, job: ImportJob, name: str) -> None:
        self.jobs, self.name = ImportJob.objects.filter(pk=job.pk, state=ImportJob.State.RUNNING), name
        self.said = 0.0

    def tick(self, there: int, of: int | None) -> None:
        if time.monotonic() - self.said < SECONDS_BETWEEN_WORDS:
            return
        self.said = time.monotonic()
        whole = f" of {of / MB:,.1f}" if of else ""
        self.jobs.update(message=f"Downloading {self.name}: {there / MB:,.1f}{whole} MB")
