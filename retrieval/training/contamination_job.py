"""A benchmark compared with a collection that somebody trained on, as its page orders it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, ClassVar, Final

from retrieval.jobs import JobOrder, close_job
from retrieval.management.progress import Stages
from retrieval.models import Benchmark, Collection, Job
from retrieval.training.contamination import (
    Contamination,
    NoTrainingTexts,
    measure_contamination,
    read_collection_texts,
)

MOST_ROWS: Final = 5_000
"""Rows that a job keeps; `cosqa admin contamination --out` writes all."""


class ContaminationOrder(JobOrder):
    """Compare the benchmark that the job is about with the `collection` of this id."""

    kind: ClassVar = Job.Kind.LEAKS
    collection: int

    def identity(self) -> int:
        """One comparison at a time with each collection."""
        return self.collection


def perform_contamination_job(job: Job) -> None:
    """Compare, and keep counts and rows of ids; the job says how that ended."""
    order, progress = ContaminationOrder.of(job), Stages(job)
    state, message, result = Job.State.DONE, "", dict[str, Any]()
    try:
        learned = read_collection_texts(Collection.objects.get(pk=order.collection))
        found = measure_contamination(Benchmark.objects.get(pk=job.subject), learned, progress)
        rows = [
            [of, shared.likeness, shared.own.name, shared.own.key, shared.other.name, shared.other.key]
            for of, group in (("query", found.queries), ("function", found.functions))
            for shared in group
        ]
        result = {
            "counts": count_contamination(found),
            "rows": rows[:MOST_ROWS],
            "more": len(rows) > MOST_ROWS,
        }
    except NoTrainingTexts as why:
        state, message = Job.State.FAILED, str(why)
    close_job(job, state, message, result=result, done=progress.done, total=progress.total)


def count_contamination(found: Contamination) -> dict[str, Any]:
    """Its numbers alone."""
    shares = {"queries": found.query_share, "functions": found.function_share}
    numbers = ("matches", "seen_functions", "seen_pairs", "refused")
    return {
        **{name: {**asdict(share), "share": share.share} for name, share in shares.items()},
        **{name: getattr(found, name) for name in numbers},
    }
