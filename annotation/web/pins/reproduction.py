"""Pins that are computed again: ordered on the pin's page, and what came out."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from django.contrib.auth.models import User
from django.urls import reverse

from annotation.pins.reproduce_order import ReproduceOrder, Start
from annotation.web.shared import jobs
from retrieval.jobs import submit_job
from retrieval.models import Job, Pin
from retrieval.texts.plurals import count_noun

MOST_WAITING: Final = 20
STARTS: Final = {
    Pin.Kind.LEADERBOARD.value: tuple(Start),
    Pin.Kind.MINING.value: (Start.LISTS, Start.VECTORS),
    Pin.Kind.BUILD.value: (Start.LISTS, Start.REPLIES),
}
"""From where each kind of pin can be computed again; the others from what is stored alone."""


def list_reproduction_starts(pin: Pin) -> list[tuple[str, str]]:
    """From where the pin can be computed again, with its words."""
    return [(start.value, str(start.label)) for start in STARTS.get(pin.kind, (Start.LISTS,))]


def reproduce_jobs_of_pin(pin: Pin) -> jobs.Table:
    """The newest orders of a pin."""
    rows, address = Job.objects.about(Job.Kind.REPRODUCE, pin.pk), reverse("pin-again-jobs", args=[pin.pk])
    return jobs.build_job_table(rows, build_reproduce_job_row, "Computed again", "Came out", address)


def build_reproduce_job_row(job: Job) -> jobs.JobRow:
    """A pin computed again, and whether it came out equal."""
    row, report = jobs.JobRow(job, ReproduceOrder.of(job).start.label, unit=("part",)), job.result
    if not report:
        return row
    folded = []
    if report["changes"]:
        heading = f"{count_noun(report['differ'], 'figure differs', 'figures differ')}"
        folded.append((heading, list_changes(report["changes"])))
    if report["grounds"]:
        heading = f"What it is based on has changed: {count_noun(report['others'], 'ground')}"
        folded.append((heading, list_changes(report["grounds"])))
    came_out = (
        "equal" if report["equal"] else count_noun(report["differ"], "figure differs", "figures differ")
    )
    return replace(row, became=came_out, notes=report["notes"], folded=folded)


def list_changes(changes: list[list[str]]) -> list[str]:
    """Where, what it was and what it is, in words."""
    return [f"{where}: was {before}, is {now}" for where, before, now in changes]


def order_reproduction(pin: Pin, start: str, user: User) -> str:
    """Have a worker compute it again; why that can't be ordered, else nothing. The same is ordered once."""
    if start not in dict(list_reproduction_starts(pin)):
        return "A pin of this kind can’t be computed from that."
    if Job.objects.open().filter(kind=Job.Kind.REPRODUCE).count() >= MOST_WAITING:
        return f"{MOST_WAITING} pins are waiting to be computed: let some finish first."
    _, new = submit_job(ReproduceOrder(start=Start(start)), user, pin.pk)
    return "" if new else "This is already under way."
