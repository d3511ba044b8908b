"""What a page orders of a benchmark: its pairs judged by code similarity."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from annotation.derived.similarity.judge import (
    MOST_DEPTH,
    NotComparable,
    SimilarityChoice,
    judge_similarity,
)
from annotation.derived.similarity.publication import publish_similarity_benchmark, refuse_benchmark
from retrieval.jobs import JobOrder, close_job
from retrieval.management.progress import Stages
from retrieval.models import Benchmark, Collection, Job
from retrieval.sources.code.aroma import THRESHOLD


class SimilarityOrder(JobOrder):
    """Compare the functions of the benchmark that the job is about with answers (0: with its matches)."""

    kind: ClassVar = Job.Kind.SIMILAR
    language: Literal["java", "python"] = "python"
    threshold: float = Field(default=THRESHOLD, gt=0, le=1)
    depth: int = Field(default=10, ge=0, le=MOST_DEPTH)
    answers: int = 0

    def identity(self) -> str:
        """One at a time of each benchmark."""
        return ""

    def choice(self) -> SimilarityChoice:
        found = Collection.objects.get(pk=self.answers) if self.answers else None
        return SimilarityChoice(self.language, self.threshold, self.depth, found)


def perform_similarity_job(job: Job) -> None:
    """Judge and publish; the job says how that ended. Doing it twice publishes once."""
    order, progress = SimilarityOrder.of(job), Stages(job)
    state, message, result = Job.State.DONE, "", dict[str, Any]()
    try:
        benchmark, choice = Benchmark.objects.get(pk=job.subject), order.choice()
        refuse_benchmark(benchmark)
        judged = judge_similarity(
            benchmark, choice, lambda done, total: progress("compare code", done, total)
        )
        made = publish_similarity_benchmark(benchmark, choice, judged)
        result = {
            "benchmark": made.pk,
            "title": f"{made.name}, version {made.version}",
            "annotator": judged.annotator.pk,
            "matches": judged.labels[1],
            "no_matches": judged.labels[0],
            "unjudged": {reason.value: count for reason, count in judged.unjudged.items()},
        }
    except NotComparable as why:
        state, message = Job.State.FAILED, str(why)
    close_job(job, state, message, result=result, done=progress.done, total=progress.total)
