"""An uploaded file of ranked lists → a run that is kept, as `manage.py evaluate --run` scores one."""

from __future__ import annotations

from typing import Any, ClassVar

from retrieval.evaluation.content import NoCandidates, content_of
from retrieval.evaluation.files import NotComparable
from retrieval.evaluation.leaderboard import build_leaderboard, precompute_leaderboards
from retrieval.evaluation.runs.system_run import (
    DEFAULT_MEASURES,
    Evaluated,
    NameTooLong,
    Tick,
    describe_skipped_queries,
    evaluate_file,
)
from retrieval.jobs import JobOrder, close_job, path_of_job_file, remove_job_files
from retrieval.management.progress import Progress
from retrieval.metrics.names import parse_measures
from retrieval.models import Benchmark, Job, Pool
from retrieval.sources.readers.lines import Malformed
from retrieval.texts.plurals import count_noun


class RunOrder(JobOrder):
    """Score a file of ranked lists on the benchmark that the job is about.

    `source` is what people call the file, whose content has the `sha256`. An empty text option is not known,
    an empty language is any.
    """

    kind: ClassVar = Job.Kind.RUN
    system: str
    source: str
    pool: Pool
    sha256: str
    text_option: str = ""
    language: str = ""

    def identity(self) -> dict[str, Any]:
        """All of it."""
        return self.model_dump(mode="json")


def perform_run_job(job: Job) -> None:
    """Score and keep what was uploaded; the job says how that ended, and its file is gone then.

    Doing it twice keeps it once. Of a file that is refused nothing is kept; the message names the line where
    one is to blame.
    """
    order, benchmark = RunOrder.of(job), benchmark_of(job)
    progress = Progress(job, benchmark.query_count)
    state, message, result = Job.State.DONE, "", dict[str, Any]()
    try:
        done = _scored(job, order, benchmark, progress)
        result = {"run": done.run.pk, "notes": notes_of(done)}
    except (Malformed, NameTooLong, NoCandidates, NotComparable) as why:
        state, message = Job.State.FAILED, str(why).replace(str(path_of_job_file(job)), order.source)
    close_job(job, state, message, result=result, done=progress.done)
    forget_files()


def forget_files() -> None:
    """Remove the files of jobs that have ended, also of those whose worker died at that."""
    ended = Job.objects.filter(kind=Job.Kind.RUN).exclude(state__in=Job.OPEN)
    for job in ended.exclude(files={}):
        remove_job_files(job)


def precompute_boards(job: Job) -> None:
    """The other views of the board that a run came to, unless somebody waits for the worker."""
    others = Job.objects.open().filter(kind=job.kind)
    if "run" in job.result and not others.exists():
        precompute_leaderboards(benchmark_of(job), job.order["pool"])


def benchmark_of(job: Job) -> Benchmark:
    return Benchmark.objects.select_related("mining").get(pk=job.subject)


def notes_of(done: Evaluated) -> list[str]:
    """What a person is told of a run that was scored: what it rests on, and what was unknown."""
    counts = done.counts
    told = (
        f"{done.run.system} is scored on {count_noun(counts.scored, 'query', 'queries')}, "
        f"{counts.without_results:,} without results (score 0); {describe_skipped_queries(counts)}."
    )
    return [told, *(note.partition(": ")[2] for note in done.notes)]


def _scored(job: Job, order: RunOrder, benchmark: Benchmark, tick: Tick) -> Evaluated:
    """Raises `Malformed`, `NameTooLong`, `NoCandidates` and `NotComparable`."""
    done = evaluate_file(
        path_of_job_file(job),
        order.system,
        content_of(benchmark),
        order.pool,
        parse_measures(DEFAULT_MEASURES.split(",")),
        language=order.language or None,
        text_option=order.text_option,
        source=order.source,
        tick=tick,
    )
    build_leaderboard(benchmark, order.pool)  # kept, so that nobody waits for the page
    return done
