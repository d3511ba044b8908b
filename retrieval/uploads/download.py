"""Files of an import that lie at an address: ordered in the form, downloaded by the worker that imports."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from django.conf import settings

from retrieval.jobs import close_job, path_of_job_file, remove_job_files
from retrieval.models import Job
from retrieval.sources import Problem
from retrieval.sources.formats.table import peek_table_file
from retrieval.sources.web.download import NotDownloaded, Terms, Unreached, download_file
from retrieval.texts.hostile import mark_hostile_characters
from retrieval.uploads.files import by_name
from retrieval.uploads.import_order import Format, ImportOrder

SECONDS_BETWEEN_WORDS: Final = 1.0
MB: Final = 2**20
TRIES: Final = 3
OFFLINE: Final = "Is the server offline? Then download it elsewhere, and upload the file itself."


def gather_import_files(job: Job) -> bool:
    """Whether the job can be imported now, all its files being there.

    What can't be downloaded fails it with the reason; a table that was downloaded waits for its columns.
    """
    order = ImportOrder.of(job)
    if not order.addresses:
        return True
    try:
        for name, address in order.addresses.items():
            _fetch(job, address, path_of_job_file(job, name))
    except NotDownloaded as why:
        offline = f" {OFFLINE}" if isinstance(why, Unreached) else ""
        fail_import_job(job, f"Not downloaded: {by_name(job, why.why)}.{offline}")
        return False
    return order.format != Format.TABLE or bool(order.options) or _asks_columns(job)


def _fetch(job: Job, address: str, file: Path) -> None:
    """Download one file; what is cut off goes on a few times. Raises NotDownloaded."""
    terms = Terms(settings.DOWNLOAD_MB * MB, strangers=not settings.DOWNLOAD_PRIVATE)
    for left in range(TRIES, 0, -1):
        try:
            download_file(address, file.parent, tick=_Told(job, file.name).tick, terms=terms)
            return
        except NotDownloaded as why:
            if not why.retryable or left == 1:
                raise


def _asks_columns(job: Job) -> bool:
    seen = peek_table_file(path_of_job_file(job))
    if isinstance(seen, Problem):
        fail_import_job(job, f"No record of it can be read: {by_name(job, str(seen))}")
    else:
        running = Job.objects.filter(pk=job.pk, state=Job.State.RUNNING)
        running.update(state=Job.State.COLUMNS, lease_until=None, message="")
    return False


def fail_import_job(job: Job, why: str) -> None:
    """Close a job of which nothing was imported; its files are removed."""
    close_job(job, Job.State.FAILED, mark_hostile_characters(why))
    remove_job_files(job)


class _Told:
    """Says once a second in the job how much of a file is there."""

    def __init__(self, job: Job, name: str) -> None:
        self.jobs, self.name = Job.objects.filter(pk=job.pk, state=Job.State.RUNNING), name
        self.said = 0.0

    def tick(self, there: int, of: int | None) -> None:
        if time.monotonic() - self.said < SECONDS_BETWEEN_WORDS:
            return
        self.said = time.monotonic()
        whole = f" of {of / MB:,.1f}" if of else ""
        self.jobs.update(message=f"Downloading {self.name}: {there / MB:,.1f}{whole} MB")
