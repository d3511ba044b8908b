"""Where the files of an uploaded import lie, what people call them, and how they go away."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path
from typing import Final

from django.db.models.fields.files import FieldFile
from django.utils import timezone

from retrieval.models import Collection, ImportJob
from retrieval.models.import_jobs import OWN_FOLDER

COLUMNS: Final = ("file", "codebase", "pairs", "titles")
FOR_COLUMNS: Final = timedelta(days=1)
"""So long a table waits for its columns to be chosen."""


def files_of(job: ImportJob) -> list[FieldFile]:
    """Those that the job has."""
    return [file for name in COLUMNS if (file := getattr(job, name))]


def unpacked(job: ImportJob) -> Path:
    """The folder for what the job's zip holds; called like the zip: members name that as their origin."""
    path = Path(job.file.path)
    return path.parent / "unpacked" / path.stem


def by_name(job: ImportJob, text: str) -> str:
    """Files by the names that people know: where the server keeps them is nobody's business."""
    for file in files_of(job):
        text = text.replace(f"{unpacked(job)}/", "").replace(f"{Path(file.path).parent}/", "")
    return text.replace(str(unpacked(job)), Path(job.file.path).name) if job.file else text


def forget_files() -> None:
    """Remove the files of imports that have ended, also where a worker died at that, and old drafts."""
    old = timezone.now() - FOR_COLUMNS
    for job in ImportJob.objects.filter(state=ImportJob.State.COLUMNS, created_at__lt=old):
        discard(job)
    ended = ImportJob.objects.exclude(state__in=ImportJob.WITH_FILES)
    for job in ended.exclude(**dict.fromkeys(COLUMNS, "")):
        tidy(job)
        remove_files(job)


def cancel(job: ImportJob) -> bool:
    """Stop an import, and what it downloads; False where it is over. What it had stored stays.

    The worker that is at it looks every few seconds, ends its child and removes the files.
    """
    jobs = ImportJob.objects.filter(pk=job.pk)
    over = {
        "state": ImportJob.State.CANCELLED,
        "message": "What was stored before stays.",
        "lease_until": None,
    }
    if jobs.filter(state=ImportJob.State.WAITING).update(**over):
        remove_files(job)
        return True
    return bool(jobs.filter(state=ImportJob.State.RUNNING).update(**over))


def tidy(job: ImportJob) -> None:
    """Take away collections into which nothing came, and from the others the place where uploads are kept."""
    collections = Collection.objects.filter(name=job.name)
    collections.filter(size=0).delete()
    if job.file:
        collections.filter(source=job.file.path).update(source=by_name(job, job.file.path))


def discard(job: ImportJob) -> None:
    """Take back an upload that no worker has taken up: nothing of it is left."""
    ImportJob.objects.filter(pk=job.pk, state=ImportJob.State.COLUMNS).delete()
    if not ImportJob.objects.filter(pk=job.pk).exists():
        _remove(job)


def remove_files(job: ImportJob) -> None:
    _remove(job)
    ImportJob.objects.filter(pk=job.pk).update(**dict.fromkeys(COLUMNS, ""))


def _remove(job: ImportJob) -> None:
    for file in files_of(job):
        folder = Path(file.path).parent
        file.delete(save=False)
        if OWN_FOLDER.fullmatch(folder.name):  # older ones lie among others
            shutil.rmtree(folder, ignore_errors=True)
