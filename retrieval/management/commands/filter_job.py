"""`manage.py filter_job ID`: make one filtered collection, or count; the workers start it as a child."""

from __future__ import annotations

import time
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from retrieval import deriving, filtering
from retrieval.counting import counted
from retrieval.management import leash
from retrieval.management.light import LightCommand
from retrieval.models import FilterJob
from retrieval.sources.detector import magika

SECONDS_BETWEEN_NOTES: Final = 0.5


class Command(LightCommand):
    help = "Make a collection, or count, as somebody ordered it on the page of a collection's filters."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("job", type=int, help="its id")
        leash.add_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        leash.obey(options)
        job = FilterJob.objects.select_related("source").filter(pk=options["job"]).first()
        if job is None:
            raise CommandError(f"There is no filter job {options['job']}.")
        perform(job)


def perform(job: FilterJob) -> None:
    """Make the collection, or complete one that was cut off, or count; the job says how that ended."""
    progress = Stages(job)
    try:
        if job.counts_only:
            job.counts = dict(filtering.of_snippets(job.source, magika(), progress))
        else:
            job.made = deriving.make(job.name, job.source, job.filters, magika(), progress)
        job.state, job.message = FilterJob.State.DONE, ""
    except deriving.NotMade as why:
        job.state, job.message = FilterJob.State.FAILED, str(why)
    job.done, job.total = progress.done, progress.total
    job.lease_until, job.finished_at = None, timezone.now()
    job.save(
        update_fields=["made", "counts", "state", "message", "done", "total", "lease_until", "finished_at"]
    )


class Stages:
    """Notes how far the present stage is, twice a second, with its rate."""

    def __init__(self, job: FilterJob) -> None:
        self.job, self.what, self.done, self.total = job, "", 0, job.source.size
        self.began = self.noted = time.monotonic()
        FilterJob.objects.filter(pk=job.pk).update(done=0, total=self.total)

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if what != self.what:
            self.what, self.began = what, now
        self.done, self.total = done, total
        if now - self.noted > SECONDS_BETWEEN_NOTES or done == total:
            self.noted = now
            rate = round(done / max(now - self.began, 0.001))
            said = f"{what}: {counted(rate, 'member')} a second"
            FilterJob.objects.filter(pk=self.job.pk).update(done=done, total=total, message=said)
