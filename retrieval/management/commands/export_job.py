"""`manage.py export_job ID`: write one export in this process; the workers start it as a child."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from retrieval.exporting.content import NothingToExport
from retrieval.exporting.jobs import file_of
from retrieval.exporting.labels import Choice
from retrieval.exporting.licences import Withhold
from retrieval.exporting.performing import Exported, Options, export
from retrieval.exporting.writing import why_unwritten
from retrieval.management import leash
from retrieval.management.light import LightCommand
from retrieval.management.progress import Progress
from retrieval.models import ExportJob
from retrieval.sources.parquet import MissingLibrary


class Command(LightCommand):
    help = "Write one export of a benchmark that somebody ordered on its page."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("job", type=int, help="its id")
        leash.add_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        leash.obey(options)
        job = ExportJob.objects.select_related("benchmark__mining").filter(pk=options["job"]).first()
        if job is None:
            raise CommandError(f"There is no export job {options['job']}.")
        target = file_of(settings.COSQA_HOME, job)
        folder = target.with_suffix("")
        shutil.rmtree(folder, ignore_errors=True)
        try:
            done = made(job, target, folder)
        except (NothingToExport, MissingLibrary) as why:
            fail(job, str(why))
        except OSError as why:
            fail(job, why_unwritten(why, "COSQA_HOME"))
        else:
            close(job, done, target)


def made(job: ExportJob, target: Path, folder: Path) -> Exported:
    """The file of a job. What else was written is gone before anybody is told, as that too needs room."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        done = export(job.benchmark, job.format, folder, wanted(job))
        packed(folder, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        target.with_suffix(".part").unlink(missing_ok=True)
    return done


def wanted(job: ExportJob) -> Options:
    benchmark = job.benchmark
    total = benchmark.queries_until + benchmark.snippets_until + benchmark.size
    policy = Withhold(job.withhold)
    return Options(Choice(job.labels), job.seed, job.by_repository, policy, Progress(job, total))


def packed(folder: Path, target: Path) -> None:
    """All files in one zip, which has its name when it is whole."""
    part = target.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    part.replace(target)


def close(job: ExportJob, done: Exported, file: Path) -> None:
    ExportJob.objects.filter(pk=job.pk).update(
        state=ExportJob.State.DONE,
        total=done.queries + done.snippets + done.pairs,
        done=done.queries + done.snippets + done.pairs,
        size=file.stat().st_size,
        warnings=done.warnings,
        message="",
        lease_until=None,
        finished_at=timezone.now(),
    )


def fail(job: ExportJob, why: str) -> None:
    ExportJob.objects.filter(pk=job.pk).update(
        state=ExportJob.State.FAILED, message=why, lease_until=None, finished_at=timezone.now()
    )
