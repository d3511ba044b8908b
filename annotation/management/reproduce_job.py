"""Computes a pin again, as its page or a command orders it, and says whether it came out equal."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from django.conf import settings

from annotation.pins import Change, Reproduced, read_too, reproduce_pin, search_too
from annotation.pins.reproduce_order import ReproduceOrder, Start
from annotation.web.corpus.pins import corpus_now
from retrieval.jobs import close_job
from retrieval.management.progress import Parts
from retrieval.models import Job, Pin

KEPT: Final = 40


def perform_reproduce_job(job: Job) -> None:
    """Compute, and keep what differs."""
    tick = Parts(job)
    found = reproduce_from(Pin.objects.get(pk=job.subject), ReproduceOrder.of(job).start, tick)
    report = {
        "equal": found.equal,
        "differ": len(found.changes),
        "changes": tabulate_changed_figures(found.changes),
        "others": len(found.grounds),
        "grounds": tabulate_changed_figures(found.grounds),
        "notes": list(found.notes),
    }
    close_job(job, Job.State.DONE, result=report, done=tick.done)


def reproduce_from(pin: Pin, start: str, tick: Callable[[], None]) -> Reproduced:
    """The pin computed again from its start on; `tick` is called after each part of the work."""
    found = reproduce_pin(pin, tick, {Pin.Kind.CORPUS: corpus_now})
    if start == Start.VECTORS:
        return search_too(found, settings.COSQA_HOME / "vectors", tick)
    return read_too(found, tick) if start == Start.REPLIES else found


def format_pinned_value(value: Any) -> str:
    return "missing" if value is None else json.dumps(value, ensure_ascii=False)[:200]


def tabulate_changed_figures(changes: tuple[Change, ...]) -> list[list[str]]:
    """The first ones: where, what it was, what it is."""
    return [
        [change.where, format_pinned_value(change.before), format_pinned_value(change.now)]
        for change in changes[:KEPT]
    ]
