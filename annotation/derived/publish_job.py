"""What pages order of a build: its pairs as a benchmark, or the next version with holes that it filled."""

from __future__ import annotations

from typing import Any, ClassVar

from annotation.builds.results.publication import (
    PublishRefused,
    Wish,
    list_added_pairs,
    pair_ids_of_wish,
    publish_benchmark,
)
from annotation.derived import corrected_labels, unjudged_results
from annotation.models import Build
from retrieval.evaluation.holes import NoHoles
from retrieval.evaluation.leaderboard import keep_all
from retrieval.evaluation.runs.carried_runs import ALIKE, runs_to_carry
from retrieval.jobs import JobOrder, close_job
from retrieval.management.progress import Progress
from retrieval.models import Benchmark, Holes, Job, Pool

OF_BUILD = ("annotator", "pair_list__benchmark", "mining__queries", "mining__snippets")


class PublishOrder(JobOrder):
    """Publish the pairs of the build that the job is about; a build has one such job that is open, or none.

    One that `corrects` the benchmark with this id publishes its next version with the labels of the build's
    given pairs. One that `fills` publishes the next version of the benchmark whose holes the build judged,
    and scores that one's runs by it: what is counted then are queries scored.
    """

    kind: ClassVar = Job.Kind.PUBLISH
    name: str
    pool: Pool
    fills: bool = False
    corrects: int | None = None

    def identity(self) -> str:
        """A build is published as one thing at a time."""
        return ""


def perform_publish_job(job: Job) -> None:
    """Publish what was ordered; the job says how that ended. Doing it twice publishes once."""
    order, build = PublishOrder.of(job), Build.objects.select_related(*OF_BUILD).get(pk=job.subject)
    wish = Wish(order.name, build.mining, build, order.pool)
    progress = Progress(job, to_score(build) if order.fills else count_pairs(wish))
    state, message, result = Job.State.DONE, "", dict[str, Any]()
    try:
        made = published(job, order, wish, build, progress)
        result = {"benchmark": made.pk, "title": f"{made.name}, version {made.version}"}
    except (PublishRefused, NoHoles) as why:
        state, message = Job.State.FAILED, str(why)
    close_job(job, state, message, result=result, done=progress.done)


def count_pairs(wish: Wish) -> int:
    """How many pairs are looked at."""
    return pair_ids_of_wish(wish).count() + len(list_added_pairs(wish))


def published(job: Job, order: PublishOrder, wish: Wish, build: Build, progress: Progress) -> Benchmark:
    """The new version. Raises PublishRefused and NoHoles."""
    if order.corrects:
        old = Benchmark.objects.get(pk=order.corrects)
        return corrected_labels.publish_corrected_benchmark(build, old, order.name, job.created_by, progress)
    if order.fills:
        return unjudged_results.publish_filled_benchmark(build, job.created_by, progress)
    return publish_benchmark(wish, job.created_by, progress)


def benchmark_published_by(job: Job) -> Benchmark | None:
    """What the job became, if it did."""
    return Benchmark.objects.filter(pk=job.result.get("benchmark")).first()


def keep_figures(job: Job) -> None:
    """What the page of a version that scored runs shows first, unless somebody waits for the worker."""
    made = benchmark_published_by(job)
    waits = Job.objects.open().filter(kind=Job.Kind.PUBLISH).exists()
    if made is not None and made.runs.exists() and not waits:
        keep_all(made)


def to_score(build: Build) -> int:
    """How many queries are scored again: all of the benchmark, for each of its runs."""
    found = Holes.objects.filter(mining=build.mining_id).select_related("run__benchmark").first()
    return scored_again(found.run.benchmark) if found else 0


def scored_again(benchmark: Benchmark) -> int:
    """Queries times runs, which are scored when holes of a benchmark's runs are published.

    Those runs and the ones of its newest version; lists that both have count once.
    """
    runs = runs_to_carry(benchmark, Benchmark.objects.newest(benchmark.name))
    lists: int = runs.order_by().values(*ALIKE).distinct().count()
    return benchmark.queries_until * lists
