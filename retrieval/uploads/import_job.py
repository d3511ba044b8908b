"""Performs an uploaded import: how far it is, and how it ended."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from retrieval.collections.import_report import (
    ImportCounts,
    Imported,
    Options,
    describe_aliases,
    describe_assumed,
    describe_labels,
)
from retrieval.filters.steps import Refusals
from retrieval.jobs import close_job, remove_job_files
from retrieval.models import Benchmark, Job
from retrieval.sources import Problem
from retrieval.sources.readers.read_progress import meter_bytes_read
from retrieval.texts.hostile import mark_hostile_characters
from retrieval.texts.plurals import count_noun
from retrieval.uploads.download import gather_import_files
from retrieval.uploads.files import by_name, remove_empty_collections
from retrieval.uploads.formats import import_upload
from retrieval.uploads.import_order import ImportOrder

PROBLEMS_KEPT: Final = 100


def perform_import_job(job: Job) -> None:
    """Import what was uploaded; what lies at an address is downloaded first."""
    if not gather_import_files(job):
        return
    refusals, began, order = Refusals(), time.monotonic(), ImportOrder.of(job)
    with meter_bytes_read() as meter:
        ticking = Options(
            tick=lambda counts: record_import_progress(job, counts, time.monotonic() - began, meter.share),
            allow_partial=order.allow_partial,
            replace=order.replace,
        )
        done = import_upload(job, ticking, refusals)
    close_import_job(job, done, refusals)


def record_import_progress(job: Job, counts: ImportCounts, seconds: float, share: float | None) -> None:
    """How far it is, and how fast on the average; `share` of its bytes, None where nobody knows them."""
    done = counts.read + counts.labels
    rate = round(done / seconds) if seconds > 0 else 0
    Job.objects.filter(pk=job.pk).exclude(state=Job.State.CANCELLED).update(
        result=counted(counts),
        done=int(100 * (share or 0)),
        total=0 if share is None else 100,
        message=f"{count_noun(rate, 'record')} a second",
    )


def counted(counts: ImportCounts) -> dict[str, int]:
    return {name: getattr(counts, name) for name in ("read", "stored", "unreadable")}


def close_import_job(job: Job, done: Imported, refusals: Refusals) -> None:
    """The final counts of all collections together, and the first problems by record; its files are removed.

    It is done in part where a record was refused, and failed where nothing could be read. Collections into
    which nothing came are taken away.
    """
    remove_empty_collections(job)
    total = done.total()
    nothing = total.read == total.unreadable
    why = _message(nothing, refusals, done.problems) if nothing else _without_code(job, done)
    problems = [
        mark_hostile_characters(by_name(job, _for_form(str(problem))))
        for problem in done.problems[:PROBLEMS_KEPT]
    ]
    close_job(
        job,
        Job.State.FAILED if why else Job.State.PARTIAL if total.unreadable else Job.State.DONE,
        mark_hostile_characters(by_name(job, why or _ended(done, refusals))),
        result={**counted(total), "problems": problems, "ids": _ids(done)},
    )
    remove_job_files(job)


def _ids(done: Imported) -> list[str]:
    """From what ids were read, of queries, snippets and labels."""
    parts = ("queries", done.queries), ("snippets", done.snippets), ("labels", done.others)
    return [f"{kind}: {counts.ids_told}" for kind, counts in parts if counts and counts.ids_told]


def _ended(done: Imported, refusals: Refusals) -> str:
    """What was refused, what came, and why labels became no benchmark."""
    total = done.total()
    refused = f"Refused: {count_noun(total.unreadable, 'record')}, listed below; the others are stored"
    told = (
        refused if total.unreadable else "",
        _message(nothing=False, refusals=refusals, problems=()) or _became(done, total),
        _for_form(done.unpublished),
    )
    *first, last = [part for part in told if part] or [""]
    return ". ".join([*(part.removesuffix(".") for part in first), last])


def _for_form(told: str) -> str:
    """What is said of the command's options, as one who uploads has them."""
    for option in ("--allow-partial", "--replace"):
        told = told.replace(f"with {option}", "by the box for that in the form")
    return told


def _without_code(job: Job, done: Imported) -> str:
    """What is said where nothing of a code base could be read, which the command takes for a failure, too."""
    code = done.snippets
    if "codebase" not in job.files or code is None or code.read > code.unreadable:
        return ""
    why = str(code.problems[0]) if code.problems else "there is nothing in it"
    return f"No function of the code base could be read, the queries are kept: {why}"


def _message(nothing: bool, refusals: Refusals, problems: Sequence[Problem]) -> str:
    """Why nothing came, or which functions a rule refused."""
    refused = ";".join(refusals.lines()).strip()
    if nothing and not refused:
        return str(problems[0]) if len(problems) == 1 else "Nothing could be read: see the problems."
    return f"No function was kept: {refused}" if nothing else refused


def _became(done: Imported, total: ImportCounts) -> str:
    """What came beside members, or that nothing did where people may miss it; and what is missing."""
    aliases = sum(len(counts.aliases) for counts in done.parts)
    assumed = [_for_form(describe_assumed(counts)).removesuffix(".") for counts in done.parts]
    told = _beside(done, total), describe_aliases(aliases) if aliases else "", *assumed, done.missing
    return ". ".join(part for part in told if part)


def _beside(done: Imported, total: ImportCounts) -> str:
    if not total.labels:
        return done.remark
    labels = describe_labels(total)
    contradicted = sum(counts.contradicted for counts in done.parts)
    if contradicted:
        labels += f", {contradicted:,} of which contradict an earlier one of their pair; the first counts"
        labels += " (a box in the form takes what you mended instead)"
    return f"{labels}; {_benchmark(done.benchmark)}" if done.benchmark else labels


def _benchmark(made: Benchmark) -> str:
    from retrieval.evaluation.publication import left_out  # loads NumPy

    told = f"benchmark {made.name}, version {made.version}"
    count = left_out(made.name, made)
    missing = "the query or the function is in neither collection"
    return f"{told}; {count_noun(count, 'labelled pair')} left out: {missing}" if count else told
