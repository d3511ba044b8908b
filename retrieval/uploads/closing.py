"""How far an uploaded import is, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.db.models import QuerySet

from retrieval.counting import counted
from retrieval.filters.steps import Refusals
from retrieval.hostile import clean
from retrieval.imported import Counts, Imported
from retrieval.models import Benchmark, ImportJob
from retrieval.sources import Problem
from retrieval.uploads.files import by_name, remove_files, tidy

PROBLEMS_KEPT: Final = 100


def note(job: ImportJob, counts: Counts, seconds: float, share: float | None) -> None:
    """How far it is, and how fast on the average; `share` of its bytes, None where nobody knows them."""
    done = counts.read + counts.labels
    rate = round(done / seconds) if seconds > 0 else 0
    _wanted(job).update(
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
    tidy(job)
    total = done.total()
    nothing = total.read == total.unreadable
    why = _message(nothing, refusals, done.problems) if nothing else _without_code(job, done)
    _wanted(job).update(
        state=ImportJob.State.FAILED if why else ImportJob.State.DONE,
        read=total.read,
        stored=total.stored,
        unreadable=total.unreadable,
        problems=[clean(by_name(job, str(problem))) for problem in done.problems[:PROBLEMS_KEPT]],
        message=clean(by_name(job, why or _message(nothing, refusals, done.problems)))
        or _became(done, total),
        lease_until=None,
    )
    remove_files(job)


def fail(job: ImportJob, why: str) -> None:
    """Close a job of which nothing was imported; its files are removed."""
    _wanted(job).update(state=ImportJob.State.FAILED, message=clean(why), lease_until=None)
    remove_files(job)


def _wanted(job: ImportJob) -> QuerySet[ImportJob]:
    """The job, unless somebody cancelled it meanwhile: then that is how it ended."""
    return ImportJob.objects.filter(pk=job.pk).exclude(state=ImportJob.State.CANCELLED)


def _without_code(job: ImportJob, done: Imported) -> str:
    """What is said where nothing of a code base could be read, which the command takes for a failure, too."""
    code = done.snippets
    if not job.codebase or code is None or code.read > code.unreadable:
        return ""
    why = str(code.problems[0]) if code.problems else "there is nothing in it"
    return f"No snippet of the code base could be read, the queries are kept: {why}"


def _message(nothing: bool, refusals: Refusals, problems: Sequence[Problem]) -> str:
    """Why nothing came, or which functions a rule refused."""
    refused = ";".join(refusals.lines()).strip()
    if nothing and not refused:
        return str(problems[0]) if len(problems) == 1 else "Nothing could be read: see the problems."
    return f"No function was kept: {refused}" if nothing else refused


def _became(done: Imported, total: Counts) -> str:
    """What came beside members, or that nothing did where people may miss it; and what is missing."""
    came = _beside(done, total)
    return f"{came}. {done.missing}" if came and done.missing else came or done.missing


def _beside(done: Imported, total: Counts) -> str:
    if not total.labels:
        return done.remark
    labels = counted(total.labels, "label")
    contradicted = sum(counts.contradicted for counts in done.parts)
    if contradicted:
        labels += f", {contradicted:,} of which contradict an earlier one of their pair; the first counts"
    return f"{labels}; {_benchmark(done.benchmark)}" if done.benchmark else labels


def _benchmark(made: Benchmark) -> str:
    from retrieval.evaluation.publishing import left_out  # loads NumPy

    told = f"benchmark {made.name}, version {made.version}"
    count = left_out(made.name, made)
    missing = "the query or the snippet is in neither collection"
    return f"{told}; {counted(count, 'labelled pair')} left out: {missing}" if count else told
