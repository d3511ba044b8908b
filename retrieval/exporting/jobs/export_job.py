"""Writes one export that was ordered on a page, as a zip in a folder of its own under COSQA_HOME."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from django.conf import settings

from retrieval.disk_space import is_full_disk
from retrieval.exporting.content import NothingToExport
from retrieval.exporting.export_run import Exported, Options, export_benchmark
from retrieval.exporting.files import why_unwritten
from retrieval.exporting.jobs.order import ExportOrder, file_of
from retrieval.exporting.labels import LabelChoice
from retrieval.exporting.whole_grades import Fractions
from retrieval.exporting.withholding_policy import Withhold
from retrieval.jobs import close_job
from retrieval.management.progress import Progress
from retrieval.models import Benchmark, Job
from retrieval.sources.readers.parquet import MissingLibrary


def perform_export_job(job: Job) -> None:
    """Write the file; the job says how that ended. Raises OSError where the disk is full: then it waits."""
    target = file_of(settings.COSQA_HOME, job)
    folder = target.with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        done = write_export_file(job, target, folder)
    except (NothingToExport, Fractions, MissingLibrary) as why:
        close_job(job, Job.State.FAILED, str(why).replace("--round", "the box for that in the form"))
    except OSError as why:
        if is_full_disk(why):
            raise
        close_job(job, Job.State.FAILED, why_unwritten(why, "COSQA_HOME"))
    else:
        records = done.queries + done.snippets + done.pairs
        result = {"size": target.stat().st_size, "warnings": list(done.warnings)}
        close_job(job, Job.State.DONE, done=records, total=records, result=result)


def write_export_file(job: Job, target: Path, folder: Path) -> Exported:
    """The file of a job. What else was written is gone before anybody is told, as that too needs room."""
    order, benchmark = ExportOrder.of(job), Benchmark.objects.select_related("mining").get(pk=job.subject)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        done = export_benchmark(benchmark, order.format, folder, options_of_export(job, order, benchmark))
        zip_export_folder(folder, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        target.with_suffix(".part").unlink(missing_ok=True)
    return done


def options_of_export(job: Job, order: ExportOrder, benchmark: Benchmark) -> Options:
    total = benchmark.queries_until + benchmark.snippets_until + benchmark.size
    policy = Withhold(order.withhold)
    labels, tick = LabelChoice(order.labels), Progress(job, total)
    return Options(labels, order.seed, order.by_repository, policy, tick, order.rounds, order.published_split)


def zip_export_folder(folder: Path, target: Path) -> None:
    """All files in one zip, which has its name when it is whole."""
    part = target.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    part.replace(target)
