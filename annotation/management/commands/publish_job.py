"""`manage.py publish_job ID`: publish what a page ordered of a build; the workers start it as a child."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.models import PublishJob
from annotation.performing import perform
from retrieval.evaluation.leaderboard import keep_all
from retrieval.management import leash
from retrieval.management.light import LightCommand


class Command(LightCommand):
    help = "Publish a build's pairs as a benchmark, or with the holes that it filled, as somebody ordered."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("job", type=int, help="its id")
        leash.add_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        leash.obey(options)
        wanted = PublishJob.objects.select_related(
            "created_by",
            "corrects",
            "build__annotator",
            "build__given__benchmark",
            "build__mining__queries",
            "build__mining__snippets",
        )
        job = wanted.filter(pk=options["job"]).first()
        if job is None:
            raise CommandError(f"There is no publish job {options['job']}.")
        perform(job)
        if (
            (job.fills or job.corrects)
            and job.benchmark
            and not PublishJob.objects.filter(state__in=PublishJob.OPEN).exists()
        ):
            keep_all(job.benchmark)  # what its page shows first, while nobody waits for the worker
