"""`manage.py reproduce_job ID`: compute a pin again, as ordered on its page; workers start it as a child."""

from __future__ import annotations

import time
from typing import Any, Final

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from annotation.management.commands.reproduce import shown
from annotation.pages.corpus_pins import corpus_now
from annotation.pinning import Change, Reproduced, read_too, reproduce, search_too
from retrieval.management import leash
from retrieval.management.light import LightCommand
from retrieval.models import Pin, ReproduceJob

KEPT: Final = 40
SECONDS_BETWEEN_NOTES: Final = 0.5


class Command(LightCommand):
    help = "Compute a pin again, as somebody ordered it on the pin's page."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("job", type=int, help="its id")
        leash.add_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        leash.obey(options)
        job = ReproduceJob.objects.select_related("pin").filter(pk=options["job"]).first()
        if job is None:
            raise CommandError(f"There is no order {options['job']} to compute a pin again.")
        perform(job)


def perform(job: ReproduceJob) -> None:
    """Compute, and keep what differs."""
    tick = Parts(job)
    found = reproduce(job.pin, tick, {Pin.Kind.CORPUS: corpus_now})
    if job.start == ReproduceJob.Start.VECTORS:
        found = search_too(found, settings.COSQA_HOME / "vectors", tick)
    elif job.start == ReproduceJob.Start.REPLIES:
        found = read_too(found, tick)
    job.report, job.state, job.done = report_of(found), ReproduceJob.State.DONE, tick.done
    job.lease_until, job.finished_at = None, timezone.now()
    job.save(update_fields=["report", "state", "done", "lease_until", "finished_at"])


def report_of(found: Reproduced) -> dict[str, Any]:
    return {
        "equal": found.equal,
        "differ": len(found.changes),
        "changes": rows(found.changes),
        "others": len(found.grounds),
        "grounds": rows(found.grounds),
        "notes": list(found.notes),
    }


def rows(changes: tuple[Change, ...]) -> list[list[str]]:
    """The first ones: where, what it was, what it is."""
    return [[one.where, shown(one.before), shown(one.now)] for one in changes[:KEPT]]


class Parts:
    """Notes, twice a second, how many parts are computed."""

    def __init__(self, job: ReproduceJob) -> None:
        self.jobs, self.done, self.noted = ReproduceJob.objects.filter(pk=job.pk), 0, time.monotonic()

    def __call__(self) -> None:
        self.done += 1
        if time.monotonic() - self.noted > SECONDS_BETWEEN_NOTES:
            self.noted = time.monotonic()
            self.jobs.update(done=self.done)
