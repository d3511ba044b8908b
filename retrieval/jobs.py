"""Jobs are ordered, claimed, held by a lease, ended and cancelled here, whatever their kind is."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar, Final, Self
from uuid import uuid4

from django.contrib.auth.models import User
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from django.utils import timezone
from pydantic import BaseModel, ConfigDict

from retrieval.models import Job

LEASE: Final = timedelta(seconds=30)
JOBS_LOOKED_AT: Final = 100
OWN_FOLDER: Final = re.compile("[0-9a-f]{32}")
LONGEST_PATH: Final = 300


class JobOrder(BaseModel):
    """What a kind of job is told; a subclass stands beside the code that performs the kind."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: ClassVar[Job.Kind]

    @classmethod
    def of(cls, job: Job) -> Self:
        """The order of a job. Raises pydantic's ValidationError."""
        return cls.model_validate(job.order)

    def identity(self) -> object:
        """What makes two orders about one subject the same while one is open; None: nothing does."""
        return None


def once_of(order: JobOrder, subject: int) -> str:
    """sha256 of what makes two orders the same one, empty where nothing does."""
    identity = order.identity()
    if identity is None:
        return ""
    return hashlib.sha256(json.dumps([subject, identity], sort_keys=True).encode()).hexdigest()


def find_open_job(order: JobOrder, subject: int) -> Job | None:
    """The open job that counts as the same as this order."""
    once = once_of(order, subject)
    return Job.objects.open().filter(kind=order.kind, once=once).first() if once else None


def submit_job(
    order: JobOrder, user: User, subject: int = 0, *, held: bool = False, **columns: Any
) -> tuple[Job, bool]:
    """A new job, or the same one that is open already; and whether it is new.

    One that is `held` is performed by the caller. Should the caller die, a worker takes it up later.
    """
    once = once_of(order, subject)
    job = Job(kind=order.kind, order=order.model_dump(mode="json"), subject=subject, created_by=user)
    job.once = once
    if held:
        columns |= {"state": Job.State.RUNNING, "lease_until": timezone.now() + LEASE}
    for name, value in columns.items():
        setattr(job, name, value)
    try:
        with transaction.atomic():
            job.save(force_insert=True)
    except IntegrityError:
        if not once:
            raise
        return Job.objects.select_related("created_by").filter(kind=order.kind, once=once)[0], False
    return job, True


def claim_job(kind: Job.Kind, fits: Callable[[Job], bool] = lambda job: True) -> Job | None:
    """Take up the job of this kind that has waited longest and `fits`; None where there is none."""
    free = Job.objects.free(kind, timezone.now())
    job = next((row for row in free.order_by("pk")[:JOBS_LOOKED_AT] if fits(row)), None)
    if job is None:
        return None
    running = {"state": Job.State.RUNNING, "lease_until": timezone.now() + LEASE, "message": ""}
    taken = free.filter(pk=job.pk).update(**running)  # why it waited is over
    return job if taken else None


def keep_job(pk: int) -> bool:
    """Renew the lease of a job until it has ended; it is wanted unless somebody cancelled it.

    One that waits was cancelled and reopened: its old child has to end before it is taken up.
    """
    rows = Job.objects.filter(pk=pk)
    rows.filter(state=Job.State.RUNNING).update(lease_until=timezone.now() + LEASE)
    return not rows.filter(state__in=(Job.State.CANCELLED, Job.State.WAITING)).exists()


def put_back_job(pk: int, message: str = "") -> None:
    """Let another worker take up a job that was stopped and has not ended; `message` says why it waits."""
    waiting = {"state": Job.State.WAITING, "lease_until": None, **({"message": message} if message else {})}
    Job.objects.filter(pk=pk, state=Job.State.RUNNING).update(**waiting)


def close_job(job: Job, state: Job.State, message: str = "", **columns: Any) -> None:
    """Say in the job how it ended, unless somebody cancelled it meanwhile: then that is how."""
    ended = {"state": state, "message": message, "lease_until": None, "finished_at": timezone.now()}
    Job.objects.filter(pk=job.pk).exclude(state=Job.State.CANCELLED).update(**ended, **columns)
    job.refresh_from_db()


def cancel_job(job: Job, message: str = "") -> bool:
    """Cancel an open job; says whether it was open. Its worker ends the child within seconds."""
    said = {"message": message} if message else {}
    return bool(
        Job.objects.open()
        .filter(pk=job.pk)
        .update(state=Job.State.CANCELLED, lease_until=None, finished_at=timezone.now(), **said)
    )


def reopen_job(job: Job) -> bool:
    """Let a worker take up a job that is over; says whether that was possible: the same one may be open."""
    rows = Job.objects.filter(pk=job.pk).exclude(state__in=Job.OPEN)
    waiting = {"state": Job.State.WAITING, "lease_until": None, "finished_at": None, "message": ""}
    try:
        with transaction.atomic():
            return bool(rows.update(**waiting))
    except IntegrityError:
        return False


def store_job_file(place: str, content: File[bytes]) -> str:
    """Keep an uploaded file; returns its path in the storage, for `Job.files`."""
    name = default_storage.generate_filename(place)
    try:
        return default_storage.save(name, content, max_length=LONGEST_PATH)
    except OSError:
        delete_stored_files({"half": name})  # a full disk needs that room
        raise


def own_place(folder: str, name: str) -> str:
    """A folder for each file, so that it keeps the name that people gave it: that is told as its source."""
    return f"{folder}/{uuid4().hex}/{name}"


def path_of_job_file(job: Job, name: str = "file") -> Path:
    """Where a file of a job lies. Raises KeyError where it has none of this name."""
    return Path(default_storage.path(job.files[name]))


def remove_job_files(job: Job) -> None:
    """Remove the files of a job, with the folders that are theirs alone."""
    delete_stored_files(job.files)
    Job.objects.filter(pk=job.pk).update(files={})
    job.files = {}


def delete_stored_files(files: Mapping[str, str]) -> None:
    """Remove these from the storage, with the folders that are theirs alone."""
    for stored in files.values():
        folder = Path(default_storage.path(stored)).parent
        default_storage.delete(stored)
        if OWN_FOLDER.fullmatch(folder.name):
            shutil.rmtree(folder, ignore_errors=True)
