"""`manage.py score_job ID`: do what was ordered on a benchmark's page; the workers start it as a child."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from retrieval.evaluation.leaderboard import keep
from retrieval.evaluation.score_jobs import perform
from retrieval.management import leash
from retrieval.management.light import LightCommand
from retrieval.models import ScoreJob


class Command(LightCommand):
    help = "Score encoders, or compute figures, as somebody ordered it on a benchmark's page."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("job", type=int, help="its id")
        leash.add_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        leash.obey(options)
        job = ScoreJob.objects.select_related("benchmark__mining").filter(pk=options["job"]).first()
        if job is None:
            raise CommandError(f"There is no score job {options['job']}.")
        perform(job, settings.COSQA_HOME / "vectors")
        job.refresh_from_db()
        if job.run_id is not None and not ScoreJob.objects.filter(state__in=ScoreJob.OPEN).exists():
            keep(job.benchmark, job.pool)  # the other views of the board, while nobody waits for the worker
