"""How far an uploaded import is, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from retrieval.counting import counted
from retrieval.filters.steps import Refusals
from retrieval.importing import Counts, Imported
from retrieval.models import Collection, ImportJob
from retrieval.sources import Problem
from retrieval.uploads.files import by_name, remove_files

PROBLEMS_KEPT: Final = 100


def note(job: ImportJob, counts: Counts, seconds: float, share: float | None) -> None:
    """How far it is, and how fast on the average; `share` of its bytes, None where nobody knows them."""
    done = counts.read + counts.labels
    rate = round(done / seconds) if seconds > 0 else 0
    ImportJob.objects.filter(pk=job.pk).update(
        read=counts.read,
        stored=counts.stored,
        unreadable=counts.unreadable,
        percent=None if share is None else int(100 * share),
        message=f"{counted(rate, 'record')} a second",
    )


def close(job: ImportJob, done: Imported, refusals: Refusals) -> None:
    """The final counts of all collections together, and the first problems by record; its files are removed.

    Collections into which nothing came are taken away.
    """
    _tidy(job)
    total = done.total()
    nothing = total.read == total.unreadable
    ImportJob.objects.filter(pk=job.pk).update(
        state=ImportJob.State.FAILED if nothing else ImportJob.State.DONE,
        read=total.read,
        stored=total.stored,
        unreadable=total.unreadable,
        problems=[by_name(job, str(problem)) for problem in done.problems[:PROBLEMS_KEPT]],
        message=by_name(job, _message(nothing, refusals, done.problems)) or _became(done, total),
        lease_until=None,
    )
    remove_files(job)


def _message(nothing: bool, refusals: Refusals, problems: Sequence[Problem]) -> str:
    """Why nothing came, or which functions a rule refused."""
    refused = ";".join(refusals.lines()).strip()
    if nothing and not refused:
        return str(problems[0]) if len(problems) == 1 else "Nothing could be read: see the problems."
    return f"No function was kept: {refused}" if nothing else refused


def _became(done: Imported, total: Counts) -> str:
    """What came beside members."""
    if not total.labels:
        return ""
    labels = counted(total.labels, "label")
    contradicted = sum(counts.contradicted for counts in done.parts)
    if contradicted:
        labels += f", {contradicted:,} of which contradict an earlier one of their pair; the first counts"
    made = done.benchmark
    return f"{labels}; benchmark {made.name}, version {made.version}" if made else labels


def _tidy(job: ImportJob) -> None:
    """Take away collections into which nothing came, and from the others the place where uploads are kept."""
    collections = Collection.objects.filter(name=job.name)
    collections.filter(size=0).delete()
    collections.filter(source=job.file.path).update(source=by_name(job, job.file.path))
