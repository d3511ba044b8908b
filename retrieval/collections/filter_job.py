"""A collection of what passes filters, or the counts of all filters, as a page orders it."""

from __future__ import annotations

from typing import Any, ClassVar

from retrieval.collections import derivation, filter_steps
from retrieval.jobs import JobOrder, close_job
from retrieval.management.progress import Stages
from retrieval.models import Collection, Job
from retrieval.sources.code.detector import load_magika


class FilterOrder(JobOrder):
    """Make a collection called `name` of what passes `filters`.

    Without filters and a name it is the order to count what each filter refuses.
    """

    kind: ClassVar = Job.Kind.FILTER
    name: str = ""
    filters: tuple[str, ...] = ()

    @property
    def counts_only(self) -> bool:
        """Whether nothing is made."""
        return not self.filters

    def identity(self) -> str:
        """Two of one name would be written into one collection."""
        return self.name


def perform_filter_job(job: Job) -> None:
    """Make the collection, or complete one that was cut off, or count; the job says how that ended."""
    order, source = FilterOrder.of(job), Collection.objects.get(pk=job.subject)
    progress = Stages(job, source.size, "member")
    state, message, result = Job.State.DONE, "", dict[str, Any]()
    try:
        if order.counts_only:
            result = {"counts": dict(filter_steps.of_snippets(source, load_magika(), progress))}
        else:
            made = derivation.derive_collection(order.name, source, order.filters, load_magika(), progress)
            result = {"collection": made.pk, "title": f"{made.name}, version {made.version}"}
    except derivation.NotMade as why:
        state, message = Job.State.FAILED, str(why)
    close_job(job, state, message, result=result, done=progress.done, total=progress.total)
