"""What a page orders of a benchmark: the same one with distractors."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from annotation.builds.pipeline.execution import SandboxProvider
from annotation.derived.distractors.proof import BugChoice, prove_bugs
from annotation.derived.distractors.publication import (
    NoDistractors,
    publish_with_distractors,
    refuse_benchmark,
)
from retrieval.jobs import JobOrder, close_job
from retrieval.management.progress import Stages
from retrieval.models import Benchmark, Job
from sandbox.candidate.mutants import BUGS
from sandbox.program import Limits
from sandbox.runner import SandboxUnavailable


class DistractorOrder(JobOrder):
    """Plant up to `most` bugs into each tested match of the benchmark that the job is about."""

    kind: ClassVar = Job.Kind.BUGS
    seed: int = Field(default=1, ge=0, le=2**31 - 1)
    most: int = Field(default=len(BUGS), ge=1, le=len(BUGS))

    def identity(self) -> str:
        """One at a time of each benchmark."""
        return ""


def perform_distractor_job(job: Job, provider: SandboxProvider, limits: Limits) -> None:
    """Prove and publish; the job says how that ended. Doing it twice publishes once."""
    order, progress = DistractorOrder.of(job), Stages(job)
    state, message, result = Job.State.DONE, "", dict[str, Any]()
    try:
        benchmark = Benchmark.objects.get(pk=job.subject)
        refuse_benchmark(benchmark)
        proofs = prove_bugs(
            benchmark,
            BugChoice(order.seed, order.most),
            provider,
            limits,
            lambda done, total: progress("run tests", done, total),
        )
        made = publish_with_distractors(benchmark, proofs)
        result = {
            "benchmark": made.pk,
            "title": f"{made.name}, version {made.version}",
            "distractors": made.distractors.count(),
            "left_out": {reason.value: count for reason, count in proofs.left_out.items() if count},
        }
    except (NoDistractors, SandboxUnavailable) as why:
        state, message = Job.State.FAILED, str(why)
    close_job(job, state, message, result=result, done=progress.done, total=progress.total)
