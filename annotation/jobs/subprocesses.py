"""Minings, imports, exports, scores, trainings and the like: in children of the worker, which stays small."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import connection
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from annotation.builds.limits import full_disk
from annotation.models import Build, Extension
from retrieval import uploads
from retrieval.disk_space import EXIT_STATUS, find_free_bytes
from retrieval.evaluation.runs import jobs as run_jobs
from retrieval.evaluation.runs import score_jobs
from retrieval.jobs import LEASE, claim_job, close_job, keep_job, put_back_job
from retrieval.mining import release_mining_parts
from retrieval.mining.known_encoders import why_missing
from retrieval.mining.parts import filter_free_parts
from retrieval.models import Job, Mining, MiningPart
from retrieval.training import training_job

Kind = Job.Kind
KINDS_OF_FILES: Final = (Kind.PUBLISH, Kind.RUN, Kind.IMPORT, Kind.FILTER, Kind.LEAKS, Kind.EXPORT)
"""In this order: to publish takes seconds, and a person waits."""
KINDS_OF_MINING: Final = (Kind.SCORE, Kind.REPRODUCE, Kind.BUGS, Kind.SIMILAR)
KINDS_OF_TRAINING: Final = (Kind.TRAIN,)
SILENT: Final[Mapping[Kind, str]] = {
    Kind.PUBLISH: "the publishing process ended without a word; see the log, then publish again: "
    "nothing comes twice",
    Kind.RUN: "the scoring process ended without a word; see the log, then upload again: nothing comes twice",
    Kind.IMPORT: "the import process ended without a word; see the log, then upload again: "
    "nothing comes twice",
    Kind.FILTER: "the filtering process ended without a message; see the log, then order it again",
    Kind.BUGS: "the process that ran the tests ended without a message; see the log, then order it again: "
    "stored runs are used again",
    Kind.SIMILAR: "the comparing process ended without a message; see the log, then order it again: "
    "no label comes twice",
    Kind.LEAKS: "the comparing process ended without a message; see the log, then order it again",
    Kind.EXPORT: "the export process ended without a word; see the log",
    Kind.SCORE: "the scoring process ended without a message; see the log, then order it again: it continues",
    Kind.REPRODUCE: "the process that computed it ended without a word; see the log, then order it again",
    Kind.TRAIN: "the training process ended without a message; see the log, then continue: "
    "it continues from its last checkpoint",
}
"""The message of a job whose child process died."""
MISSING: Final[Mapping[Kind, Callable[[Job], str]]] = {
    Kind.SCORE: score_jobs.find_missing_requirement,
    Kind.TRAIN: training_job.find_missing_requirement,
}
"""What this machine lacks for a job, empty where it can be done here, or nowhere."""
FORGETTING: Final[Mapping[Kind, Callable[[], None]]] = {
    Kind.RUN: run_jobs.forget_files,
    Kind.IMPORT: uploads.forget_files,
}
"""Removes the files of jobs that have ended, also of one whose child died."""
NO_ROOM: Final = (
    "The disk is full. Nothing is lost: work continues by itself when there is room where COSQA_HOME and the "
    "database lie"
)
SECONDS_BETWEEN_LOOKS = 2.0
STOPPED = {-signal.SIGINT, -signal.SIGTERM}
"""How a child ends when somebody stops the whole service: its work is done at the next start."""


def mine_one() -> int:
    """Take up a mining that waits, that a dead worker left or that has parts left, in a child process.

    Several workers may be at the parts of one mining; the last one closes it.
    """
    now = timezone.now()
    parts = MiningPart.objects.filter(filter_free_parts(), mining=OuterRef("pk"))
    left_over = Q(lease_until__lt=now) | Exists(parts)
    free = Q(state=Mining.State.WAITING) | Q(Q(state=Mining.State.RUNNING) & left_over)
    asking = Build.objects.filter(Q(mining=OuterRef("pk")) | Q(extensions__mining=OuterRef("pk")))
    running = Exists(asking.filter(state=Build.State.RUNNING))
    wanted = Mining.objects.filter(free).filter(~Exists(asking) | running)
    mining = next((row for row in wanted.order_by("pk")[:100] if can_mine(row)), None)
    if mining is None:
        return 0
    taken = Mining.objects.filter(free, pk=mining.pk)
    if not taken.update(state=Mining.State.RUNNING, lease_until=now + LEASE):
        return 0
    worker, room = uuid.uuid4().hex, find_free_bytes(settings.COSQA_HOME)
    ended = run_child_command(["mine", str(mining.pk), f"--worker={worker}"], lambda: keep_mining(mining.pk))
    if has_no_room(ended):
        full_disk.note_lack(f"mining {mining.pk}", room)
    full_disk.retry_while_full(lambda: close_mining(mining, worker, ended))
    return 1


def close_mining(mining: Mining, worker: str, ended: int) -> None:
    """After its child has ended: another one takes up what was stopped, or had no room."""
    release_mining_parts(worker)
    left = Mining.objects.filter(pk=mining.pk, state=Mining.State.RUNNING)
    if ended in STOPPED or ended == EXIT_STATUS or not mining_is_wanted(mining.pk):
        with_others = MiningPart.objects.filter(mining=mining, found=None, lease_until__gte=timezone.now())
        left.exclude(Exists(with_others)).update(state=Mining.State.WAITING, lease_until=None)
    elif ended:
        left.update(state=Mining.State.FAILED, message="the mining process ended without a word; see the log")


def has_no_room(ended: int) -> bool:
    """Whether a child ended for a full disk; then no work is taken here for a while."""
    if ended == EXIT_STATUS:
        full_disk.gate.shut(f"{NO_ROOM}.")
    return ended == EXIT_STATUS


def can_mine(mining: Mining) -> bool:
    """Whether this machine has what `mining` needs, as far as it knows."""
    return has_mining_encoders(mining) and full_disk.may_have_room(f"mining {mining.pk}")


def has_mining_encoders(mining: Mining) -> bool:
    """Whether this machine has every encoder of `mining`; another worker may have those that are missing."""
    return not any(why_missing(name) for name in mining.encoders)


def keep_mining(pk: int) -> bool:
    """Renew the lease of a mining; says whether it is still wanted."""
    Mining.objects.filter(pk=pk).update(lease_until=timezone.now() + LEASE)
    return mining_is_wanted(pk)


def mining_is_wanted(pk: int) -> bool:
    cancelled = Extension.objects.filter(mining=pk).filter(
        Q(state=Extension.State.CANCELLED) | Q(build__state=Build.State.CANCELLED)
    )
    return not (Build.objects.filter(mining=pk, state=Build.State.CANCELLED) or cancelled)


def perform_one_job(*kinds: Kind) -> int:
    """Take up one job of the first of `kinds` that has any, in a child process; says how many were done."""
    return next((1 for kind in kinds if perform_job_of(kind)), 0)


def perform_job_of(kind: Kind) -> bool:
    """Whether there was a job of this kind that waited here, or that a dead worker left; it is over now."""
    job = claim_job(kind, has_requirements)
    if job is None:
        return False
    room = find_free_bytes(settings.COSQA_HOME)
    ended = run_child_command(["job", str(job.pk)], lambda: keep_job(job.pk))
    if has_no_room(ended):
        full_disk.note_lack(f"job {job.pk}", room)
    full_disk.retry_while_full(lambda: end_job(job, kind, ended))
    return True


def end_job(job: Job, kind: Kind, ended: int) -> None:
    """After its child has ended: another one takes up what was stopped, or had no room; else it is over."""
    if ended in STOPPED or ended == EXIT_STATUS:
        put_back_job(job.pk, "" if ended in STOPPED else NO_ROOM)
    elif Job.objects.filter(pk=job.pk, state=Job.State.RUNNING).exists():
        close_job(job, Job.State.FAILED, SILENT[kind])
    if kind in FORGETTING:
        FORGETTING[kind]()


def has_requirements(job: Job) -> bool:
    """Whether this machine has the room and the encoders. One that is alone takes it up, and says which of
    them are missing.
    """
    if not full_disk.may_have_room(f"job {job.pk}"):
        return False
    if job.kind not in MISSING or not settings.CELERY_BROKER_URL:
        return True
    return not MISSING[Kind(job.kind)](job)


def run_child_command(command: Sequence[str], still_wanted: Callable[[], bool]) -> int:
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
