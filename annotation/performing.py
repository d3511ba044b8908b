"""What pages order of a build: its pairs as a benchmark, or the next version with holes that it filled."""

from __future__ import annotations

from django.utils import timezone

from annotation import correcting, holes
from annotation.models import PublishJob
from annotation.releasing import PublishRefused, Wish, pairs_of, publish
from retrieval.evaluation.holes import ALIKE, NoHoles, runs_to_carry
from retrieval.management.progress import Progress
from retrieval.models import Benchmark, Holes, Pool


def perform(job: PublishJob) -> None:
    """Publish what was ordered; the job says how that ended. Doing it twice publishes once."""
    wish = Wish(job.name, job.build.mining, job.build, Pool(job.pool))
    progress = Progress(job, to_score(job) if job.fills else pairs_of(wish).count())
    try:
        if job.corrects:
            job.benchmark = correcting.publish(job.build, job.corrects, job.name, job.created_by, progress)
        elif job.fills:
            job.benchmark = holes.publish(job.build, job.created_by, progress)
        else:
            job.benchmark = publish(wish, job.created_by, progress)
        job.state, job.message = PublishJob.State.DONE, ""
    except (PublishRefused, NoHoles) as why:
        job.state, job.message = PublishJob.State.FAILED, str(why)
    job.done, job.lease_until, job.finished_at = progress.done, None, timezone.now()
    job.save(update_fields=["state", "message", "benchmark", "done", "lease_until", "finished_at"])


def to_score(job: PublishJob) -> int:
    """How many queries are scored anew: those of the benchmark, for each of its runs."""
    found = Holes.objects.filter(mining=job.build.mining_id).select_related("run__benchmark").first()
    return scored_again(found.run.benchmark) if found else 0


def scored_again(benchmark: Benchmark) -> int:
    """Queries times runs, which are scored when holes of a benchmark's runs are published.

    Those runs and the ones of its newest version; lists that both have count once.
    """
    runs = runs_to_carry(benchmark, Benchmark.objects.newest(benchmark.name))
    lists: int = runs.order_by().values(*ALIKE).distinct().count()
    return benchmark.queries_until * lists
