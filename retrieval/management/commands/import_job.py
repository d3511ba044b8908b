"""`manage.py import_job ID`: perform one import of the browser in this process; the workers start it."""

from __future__ import annotations

import time
from typing import Any

from django.core.management.base import CommandError, CommandParser

from retrieval.filters.steps import Refusals
from retrieval.imported import Options
from retrieval.management import leash
from retrieval.management.light import LightCommand
from retrieval.models import ImportJob
from retrieval.sources.metering import metered
from retrieval.uploads import close, gather, note, perform


class Command(LightCommand):
    help = "Perform one import that was ordered in the browser; what lies at an address is downloaded first."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("job", type=int, help="its id")
        leash.add_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        leash.obey(options)
        job = ImportJob.objects.filter(pk=options["job"]).first()
        if job is None:
            raise CommandError(f"There is no import job {options['job']}.")
        if not gather(job):
            return
        refusals, began = Refusals(), time.monotonic()
        with metered() as meter:
            ticking = Options(tick=lambda counts: note(job, counts, time.monotonic() - began, meter.share))
            done = perform(job, ticking, refusals)
        close(job, done, refusals)
