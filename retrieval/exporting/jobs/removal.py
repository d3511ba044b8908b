"""Removes the files of exports that nobody fetches any more: made again they are the same."""

from __future__ import annotations

import logging
import re
import shutil
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from retrieval.exporting.jobs.order import folder_of
from retrieval.models import Job

log = logging.getLogger(__name__)
NAME: Final = re.compile(r"([0-9]{1,18})(?:\.zip|\.part)?", re.ASCII)
"""The file of a job, and what it is made of; anything else in the folder is not ours."""


def kept_until(job: Job, days: int) -> datetime | None:
    """Until when the file of a job that is done is kept; None = for ever."""
    return job.finished_at + timedelta(days=days) if days and job.finished_at else None


def remove_old(home: Path, days: int, now: datetime) -> int:
    """Remove what is older than `days` (0 = for ever), also of jobs that failed or are gone; says how many.

    What has no job counts from its last change, so that another database's files are not gone too soon.
    """
    found = _found(home) if days else []
    jobs = Job.objects.filter(kind=Job.Kind.EXPORT).in_bulk({number for number, _ in found})
    old = [path for number, path in found if _is_old(path, jobs.get(number), now - timedelta(days=days))]
    for path in old:
        _remove(path)
    return len(old)


def _found(home: Path) -> list[tuple[int, Path]]:
    with suppress(FileNotFoundError, NotADirectoryError):
        paths = list(folder_of(home).iterdir())
        return [(int(name[1]), path) for path in paths if (name := NAME.fullmatch(path.name))]
    return []


def _is_old(path: Path, job: Job | None, oldest: datetime) -> bool:
    if job is not None and job.state != Job.State.DONE:
        return not job.is_open  # half a file is no use to anybody
    if job is not None and job.finished_at is not None:
        return job.finished_at < oldest
    with suppress(FileNotFoundError):
        return datetime.fromtimestamp(path.lstat().st_mtime, UTC) < oldest
    return False


def _remove(path: Path) -> None:
    """One that can't be removed is no reason to keep the others."""
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as why:
        log.warning("the old export %s cannot be removed: %s", path, why)
