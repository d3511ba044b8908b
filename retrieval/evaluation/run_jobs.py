"""An uploaded file of ranked lists → a run that is kept, as `manage.py evaluate --run` scores one."""

from __future__ import annotations

from pathlib import Path

from django.utils import timezone

from retrieval.counting import counted
from retrieval.evaluation.content import NoCandidates, content_of
from retrieval.evaluation.files import NotComparable
from retrieval.evaluation.leaderboard import leaderboard
from retrieval.evaluation.running import (
    DEFAULT_MEASURES,
    Evaluated,
    NameTooLong,
    Tick,
    evaluate_file,
    skipped,
)
from retrieval.management.progress import Progress
from retrieval.metrics.names import measures
from retrieval.models import Pool, RunJob
from retrieval.sources.lines import Malformed


def perform(job: RunJob) -> None:
    """Score and keep what was uploaded; the job says how that ended, and its file is gone then.

    Doing it twice keeps it once. Of a file that is refused nothing is kept; the message names the line where
    one is to blame.
    """
    progress = Progress(job, job.benchmark.queries_until)
    try:
        done = _scored(job, progress)
        job.run, job.notes = done.run, notes_of(done)
        job.state, job.message = RunJob.State.DONE, ""
    except (Malformed, NameTooLong, NoCandidates, NotComparable) as why:
        job.state, job.message = RunJob.State.FAILED, str(why).replace(job.file.path, job.source)
    job.done, job.lease_until, job.finished_at = progress.done, None, timezone.now()
    job.save(update_fields=["state", "message", "notes", "run", "done", "lease_until", "finished_at"])
    forget_files()


def forget_files() -> None:
    """Remove the files of jobs that have ended, also of those whose worker died at that."""
    for job in RunJob.objects.exclude(file="").exclude(state__in=RunJob.OPEN):
        job.file.delete(save=False)
        RunJob.objects.filter(pk=job.pk).update(file="")


def notes_of(done: Evaluated) -> list[str]:
    """What a person is told of a run that was scored: what it rests on, and what was unknown."""
    counts = done.counts
    told = (
        f"{done.run.system} is scored on {counted(counts.scored, 'query', 'queries')}, "
        f"{counts.without_results:,} without results (score 0); {skipped(counts)}."
    )
    return [told, *(note.partition(": ")[2] for note in done.notes)]


def _scored(job: RunJob, tick: Tick) -> Evaluated:
    """Raises `Malformed`, `NameTooLong`, `NoCandidates` and `NotComparable`."""
    pool = Pool(job.pool)
    done = evaluate_file(
        Path(job.file.path),
        job.system,
        content_of(job.benchmark),
        pool,
        measures(DEFAULT_MEASURES.split(",")),
        language=job.language or None,
        text_option=job.text_option,
        source=job.source,
        tick=tick,
    )
    leaderboard(job.benchmark, pool)  # kept, so that nobody waits for the page
    return done
