"""Computes a pin again, as ordered on its page; the result says whether it came out equal."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings

from annotation.management.commands.reproduce import format_pinned_value
from annotation.pins import Change, Reproduced, read_too, reproduce_pin, search_too
from annotation.pins.reproduce_order import ReproduceOrder, Start
from annotation.web.corpus.pins import corpus_now
from retrieval.jobs import close_job
from retrieval.management.progress import Parts
from retrieval.models import Job, Pin

KEPT: Final = 40


def perform_reproduce_job(job: Job) -> None:
    """Compute, and keep what differs."""
    tick, start = Parts(job), ReproduceOrder.of(job).start
    found = reproduce_pin(Pin.objects.get(pk=job.subject), tick, {Pin.Kind.CORPUS: corpus_now})
    if start == Start.VECTORS:
        found = search_too(found, settings.COSQA_HOME / "vectors", tick)
    elif start == Start.REPLIES:
        found = read_too(found, tick)
    close_job(job, Job.State.DONE, result=report_of(found), done=tick.done)


def report_of(found: Reproduced) -> dict[str, Any]:
    return {
        "equal": found.equal,
        "differ": len(found.changes),
        "changes": tabulate_changed_figures(found.changes),
        "others": len(found.grounds),
        "grounds": tabulate_changed_figures(found.grounds),
        "notes": list(found.notes),
    }


def tabulate_changed_figures(changes: tuple[Change, ...]) -> list[list[str]]:
    """The first ones: where, what it was, what it is."""
    return [
        [change.where, format_pinned_value(change.before), format_pinned_value(change.now)]
        for change in changes[:KEPT]
    ]
