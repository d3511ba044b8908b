"""Where the files of an uploaded import lie, what people call them, and how they go away."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Final

from django.utils import timezone

from retrieval.jobs import cancel_job, delete_stored_files, own_place, path_of_job_file, remove_job_files
from retrieval.models import Collection, Job

COLUMNS: Final = ("file", "codebase", "pairs", "titles")
FOR_COLUMNS: Final = timedelta(days=1)
"""So long a table waits for its columns to be chosen."""
WITH_FILES: Final = (Job.State.COLUMNS, *Job.OPEN)


def place_of_upload(name: str) -> str:
    """Where an uploaded file of this name is kept."""
    return own_place("imports", name)


def unpacking_folder_of(job: Job) -> Path:
    """The folder for what the job's zip holds; called like the zip: members name that as their origin."""
    path = path_of_job_file(job)
    return path.parent / "unpacked" / path.stem


def by_name(job: Job, text: str) -> str:
    """Files by the names that people know: where the server keeps them is nobody's business."""
    if "file" in job.files:
        text = text.replace(f"{unpacking_folder_of(job)}/", "")
    for name in job.files:
        text = text.replace(f"{path_of_job_file(job, name).parent}/", "")
    if "file" in job.files:
        text = text.replace(str(unpacking_folder_of(job)), path_of_job_file(job).name)
    return text


def forget_files() -> None:
    """Remove the files of imports that have ended, also where a worker died at that, and old drafts."""
    imports = Job.objects.filter(kind=Job.Kind.IMPORT)
    old = timezone.now() - FOR_COLUMNS
    for job in imports.filter(state=Job.State.COLUMNS, created_at__lt=old):
        discard_upload(job)
    for job in imports.exclude(state__in=WITH_FILES).exclude(files={}):
        remove_empty_collections(job)
        remove_job_files(job)


def cancel_import_job(job: Job) -> bool:
    """Stop an import, and what it downloads; False where it is over. What it had stored stays.

    The worker that is at it looks every few seconds, ends its child and removes the files.
    """
    cancelled = cancel_job(job, "What was stored before stays.")
    if cancelled and job.state == Job.State.WAITING:
        remove_job_files(job)
    return cancelled


def remove_empty_collections(job: Job) -> None:
    """Take away collections into which nothing came, and from the others the place where uploads are kept."""
    collections = Collection.objects.filter(name=job.order["name"])
    collections.filter(size=0).delete()
    if "file" in job.files:
        path = str(path_of_job_file(job))
        collections.filter(source=path).update(source=by_name(job, path))


def discard_upload(job: Job) -> None:
    """Take back an upload that no worker has taken up: nothing of it is left."""
    Job.objects.filter(pk=job.pk, state=Job.State.COLUMNS).delete()
    if not Job.objects.filter(pk=job.pk).exists():
        delete_stored_files(job.files)
