"""`manage.py run_job ID`: score one uploaded run in this process; the workers start it as a child."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from retrieval.evaluation.leaderboard import keep
from retrieval.evaluation.run_jobs import perform
from retrieval.management import leash
from retrieval.management.light import LightCommand
from retrieval.models import RunJob


class Command(LightCommand):
    help = "Score ranked lists that somebody uploaded on a benchmark's page."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("job", type=int, help="its id")
        leash.add_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        leash.obey(options)
        job = (
            RunJob.objects.select_related("benchmark__mining", "created_by").filter(pk=options["job"]).first()
        )
        if job is None:
            raise CommandError(f"There is no run job {options['job']}.")
        perform(job)
        if job.run is not None and not RunJob.objects.filter(state__in=RunJob.OPEN).exists():
            keep(job.benchmark, job.pool)  # the other views of the board, while nobody waits for the worker
