"""`manage.py import_job ID`: perform one uploaded import in this process; the workers start it as a child."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from retrieval.counting import counted
from retrieval.filters.steps import Refusals
from retrieval.importing import Counts, Imported, Options, import_cosqa, import_items, import_python
from retrieval.management import leash
from retrieval.models import Collection, ImportJob
from retrieval.sources import Item, codesearchnet, extraction, ncs, staqc

PROBLEMS_KEPT = 100
MIXED: dict[str, Callable[[Path, Refusals], Iterator[Item]]] = {
    ImportJob.Format.DOCUMENTED: lambda file, refusals: extraction.read(file, "python", refusals),
    ImportJob.Format.CODESEARCHNET: lambda file, refusals: codesearchnet.read([file]),
    ImportJob.Format.STAQC: lambda file, refusals: staqc.read(file),
    ImportJob.Format.NCS: lambda file, refusals: ncs.read_questions(file),
}


class Command(BaseCommand):
    help = "Perform one uploaded import."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("job", type=int)
        leash.add_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        leash.obey(options)
        job = ImportJob.objects.filter(pk=options["job"]).first()
        if job is None:
            raise CommandError(f"There is no import job {options['job']}.")
        refusals, began = Refusals(), time.monotonic()
        ticking = Options(tick=lambda counts: note(job, counts, time.monotonic() - began))
        done = perform(job, ticking, refusals)
        tidy(job)
        close(job, done, refusals)


def perform(job: ImportJob, options: Options, refusals: Refusals) -> Imported:
    if job.format == ImportJob.Format.PYTHON:
        return import_python([Path(job.file.path)], job.name, options)
    if job.format in MIXED:
        items = MIXED[job.format](Path(job.file.path), refusals)
        return import_items(items, by_name(job, job.file.path), job.name, options)
    codebase = Path(job.codebase.path) if job.codebase else None
    return import_cosqa(Path(job.file.path), codebase, job.name, options)


def note(job: ImportJob, counts: Counts, seconds: float) -> None:
    """How far it is, and how fast on the average."""
    rate = round(counts.read / seconds) if seconds > 0 else 0
    ImportJob.objects.filter(pk=job.pk).update(
        read=counts.read,
        stored=counts.stored,
        unreadable=counts.unreadable,
        message=f"{counted(rate, 'record')} a second",
    )


def close(job: ImportJob, done: Imported, refusals: Refusals) -> None:
    """The final counts of all collections together, and the first problems by record."""
    total = done.total()
    nothing = total.read == total.unreadable
    ImportJob.objects.filter(pk=job.pk).update(
        state=ImportJob.State.FAILED if nothing else ImportJob.State.DONE,
        read=total.read,
        stored=total.stored,
        unreadable=total.unreadable,
        problems=[by_name(job, str(problem)) for problem in done.problems[:PROBLEMS_KEPT]],
        message=message(nothing, refusals),
        lease_until=None,
    )


def message(nothing: bool, refusals: Refusals) -> str:
    """Why nothing came, or which functions a rule refused."""
    refused = ";".join(refusals.lines()).strip()
    if nothing and not refused:
        return "Nothing could be read: see the problems."
    return f"No function was kept: {refused}" if nothing else refused


def tidy(job: ImportJob) -> None:
    """Take away collections into which nothing came, and from the others the place where uploads are kept."""
    collections = Collection.objects.filter(name=job.name)
    collections.filter(size=0).delete()
    collections.filter(source=job.file.path).update(source=by_name(job, job.file.path))


def by_name(job: ImportJob, text: str) -> str:
    """Files by the names that people know: where the server keeps them is nobody's business."""
    return text.replace(f"{Path(job.file.path).parent}/", "")
