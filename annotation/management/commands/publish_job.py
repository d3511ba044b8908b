"""`manage.py publish_job ID`: publish one order of a build's page; the workers start it as a child."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.models import PublishJob
from annotation.releasing import PublishRefused, Wish, pairs_of, publish
from retrieval.management import leash
from retrieval.management.progress import Progress
from retrieval.models import Pool


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
        wish = Wish(job.name, job.build.mining, job.build, Pool(job.pool))
        try:
            made = publish(wish, job.created_by, Progress(job, pairs_of(wish).count()))
        except PublishRefused as why:
            close(job, state=PublishJob.State.FAILED, message=str(why))
        else:
            close(job, state=PublishJob.State.DONE, message="", benchmark=made)


def close(job: PublishJob, **columns: Any) -> None:
    PublishJob.objects.filter(pk=job.pk).update(lease_until=None, finished_at=timezone.now(), **columns)
