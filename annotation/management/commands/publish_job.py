"""`manage.py publish_job ID`: publish one order of a build's page; the workers start it as a child."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.models import PublishJob
from annotation.releasing import perform
from retrieval.management import leash


class Command(BaseCommand):
    help = "Publish a build's pairs as a benchmark, as somebody ordered on the build's page."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("job", type=int)
        leash.add_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        leash.obey(options)
        wanted = PublishJob.objects.select_related(
            "created_by", "build__annotator", "build__mining__queries", "build__mining__snippets"
        )
        job = wanted.filter(pk=options["job"]).first()
        if job is None:
            raise CommandError(f"There is no publish job {options['job']}.")
        perform(job)
