"""Minings, imports, filters, exports, publishing, scores: in children of the worker, which stays small."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from django.conf import settings
from django.db import connection
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from annotation.models import Build, Extension, PublishJob
from retrieval import uploads
from retrieval.evaluation.run_jobs import forget_files
from retrieval.evaluation.score_jobs import lacks
from retrieval.known_encoders import why_missing
from retrieval.mining import release
from retrieval.mining.parts import free as free_parts
from retrieval.models import (
    ExportJob,
    FilterJob,
    ImportJob,
    Mining,
    MiningPart,
    ReproduceJob,
    RunJob,
    ScoreJob,
)

Job = ImportJob | ExportJob | PublishJob | RunJob | FilterJob | ScoreJob | ReproduceJob
Kind = TypeVar("Kind", ImportJob, ExportJob, PublishJob, RunJob, FilterJob, ScoreJob, ReproduceJob)
CHILD_LEASE = timedelta(seconds=30)
SECONDS_BETWEEN_LOOKS = 2.0
STOPPED = {-signal.SIGINT, -signal.SIGTERM}
"""How a child ends when somebody stops the whole service: its work is done at the next start."""


def mine_one() -> int:
    """Take up a mining that waits, that a dead worker left or that has parts left, in a child process.

    Several workers may be at the parts of one mining; the last one closes it.
    """
    now = timezone.now()
    parts = MiningPart.objects.filter(free_parts(), mining=OuterRef("pk"))
    left_over = Q(lease_until__lt=now) | Exists(parts)
    free = Q(state=Mining.State.WAITING) | Q(Q(state=Mining.State.RUNNING) & left_over)
    asking = Build.objects.filter(Q(mining=OuterRef("pk")) | Q(extensions__mining=OuterRef("pk")))
    running = Exists(asking.filter(state=Build.State.RUNNING))
    wanted = Mining.objects.filter(free).filter(~Exists(asking) | running)
    mining = next((row for row in wanted.order_by("pk")[:100] if able(row)), None)
    if mining is None:
        return 0
    taken = Mining.objects.filter(free, pk=mining.pk)
    if not taken.update(state=Mining.State.RUNNING, lease_until=now + CHILD_LEASE):
        return 0
    worker = uuid.uuid4().hex
    ended = child(["mine", str(mining.pk), f"--worker={worker}"], lambda: keep_mining(mining.pk))
    release(worker)
    left = Mining.objects.filter(pk=mining.pk, state=Mining.State.RUNNING)
    if ended in STOPPED or not mining_is_wanted(mining.pk):
        with_others = MiningPart.objects.filter(mining=mining, found=None, lease_until__gte=timezone.now())
        left.exclude(Exists(with_others)).update(state=Mining.State.WAITING, lease_until=None)
    elif ended:
        left.update(state=Mining.State.FAILED, message="the mining process ended without a word; see the log")
    return 1


def able(mining: Mining) -> bool:
    """Whether this machine has every encoder of `mining`; another worker may have those that are missing."""
    return not any(why_missing(name) for name in mining.encoders)


def keep_mining(pk: int) -> bool:
    """Renew the lease of a mining; says whether it is still wanted."""
    Mining.objects.filter(pk=pk).update(lease_until=timezone.now() + CHILD_LEASE)
    return mining_is_wanted(pk)


def mining_is_wanted(pk: int) -> bool:
    cancelled = Extension.objects.filter(mining=pk).filter(
        Q(state=Extension.State.CANCELLED) | Q(build__state=Build.State.CANCELLED)
    )
    return not (Build.objects.filter(mining=pk, state=Build.State.CANCELLED) or cancelled)


def import_one() -> int:
    """Take up one upload that waits, or that a dead worker left, and import it in a child process."""
    silent = "the import process ended without a word; see the log, then upload again: nothing comes twice"
    done = job_one(ImportJob, "import_job", silent)
    if done:
        uploads.forget_files()
    return done


def export_one() -> int:
    """The same for one export of a benchmark."""
    return job_one(ExportJob, "export_job", "the export process ended without a word; see the log")


def publish_one() -> int:
    """The same for one build whose pairs become a benchmark."""
    return job_one(
        PublishJob,
        "publish_job",
        "the publishing process ended without a word; see the log, then publish again: nothing comes twice",
    )


def run_one() -> int:
    """The same for one uploaded run that is scored; the file of one that died is removed with it."""
    silent = "the scoring process ended without a word; see the log, then upload again: nothing comes twice"
    done = job_one(RunJob, "run_job", silent)
    if done:
        forget_files()
    return done


def score_one() -> int:
    """The same for what was ordered on a benchmark's page: encoders that search it, or its figures."""
    silent = "the scoring process ended without a word; see the log, then order it again: it goes on"
    return job_one(ScoreJob, "score_job", silent, scorable)


def scorable(job: ScoreJob) -> bool:
    """Whether this machine has the encoders. One that is alone takes it up, and says what is missing."""
    return not settings.CELERY_BROKER_URL or not lacks(job)


def filter_one() -> int:
    """The same for one collection of what passes filters."""
    silent = "the filtering process ended without a word; see the log, then order it again: it goes on"
    return job_one(FilterJob, "filter_job", silent)


def reproduce_one() -> int:
    """The same for one pin that is computed again."""
    silent = "the process that computed it ended without a word; see the log, then order it again"
    return job_one(ReproduceJob, "reproduce_job", silent)


def job_one(
    kind: type[Kind], command: str, silent: str, fits: Callable[[Kind], bool] = lambda job: True
) -> int:
    now, jobs = timezone.now(), kind._default_manager
    free = Q(state=kind.State.WAITING) | Q(state=kind.State.RUNNING, lease_until__lt=now)
    job = next((row for row in jobs.filter(free).order_by("pk")[:100] if fits(row)), None)
    if job is None:
        return 0
    if not jobs.filter(free, pk=job.pk).update(state=kind.State.RUNNING, lease_until=now + CHILD_LEASE):
        return 0
    ended = child([command, str(job.pk)], lambda: keep_job(kind, job.pk))
    left = jobs.filter(pk=job.pk, state=kind.State.RUNNING)
    if ended in STOPPED:
        left.update(state=kind.State.WAITING, lease_until=None)
    else:
        left.update(state=kind.State.FAILED, message=silent)
    return 1


def keep_job(kind: type[Job], pk: int) -> bool:
    """Renew the lease of a job until it has ended; it is wanted unless somebody cancelled it."""
    rows = kind._default_manager.filter(pk=pk)
    rows.filter(state=kind.State.RUNNING).update(lease_until=timezone.now() + CHILD_LEASE)
    return not rows.filter(state="cancelled").exists()


def child(command: Sequence[str], still_wanted: Callable[[], bool]) -> int:
    """Run a management command in a process of its own, so that this one never loads torch."""
    manage = Path(settings.BASE_DIR) / "manage.py"
    # Nothing is ever written to the pipe: it closes when this process dies, however it dies.
    process = subprocess.Popen(
        [sys.executable, str(manage), *command, "--end-with-parent"],
        stdin=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for this process, which ends the child with itself
    )
    asked = time.monotonic()
    while process.poll() is None:
        if time.monotonic() - asked > SECONDS_BETWEEN_LOOKS:
            asked = time.monotonic()
            if not still_wanted():
                process.kill()
            connection.close()
        time.sleep(0.1)
    if process.stdin is not None:
        process.stdin.close()
    return process.returncode
