"""Orders that a worker performs, as the pages list on which they are given: what waits, runs and ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse

from annotation.models import PublishJob
from retrieval.models import Benchmark, FilterJob, RunJob, ScoreJob

SHOWN: Final = 5
PAIRS: Final = "pair"
MEMBERS: Final = "member"
QUERIES: Final = "query,queries"
STEPS: Final = "step"
REFUSED: Final = "Nothing was kept: put that right, and upload the file again."


@dataclass(frozen=True, slots=True)
class Row:
    """An order: `title` and `details` say what was ordered, `became` what came of it, to be found at `href`.

    `unit` is what its progress counts, as the filter `counted` takes it. `cancel`: where it is cancelled.
    """

    job: PublishJob | RunJob | FilterJob | ScoreJob
    title: str
    details: str
    unit: str = QUERIES
    became: str = ""
    href: str = ""
    notes: Sequence[str] = ()
    cancel: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The newest orders of a page under its `heading`; `address` is asked for them again while one is open.

    `again`: where another one is ordered, and the words of that link, for pages without the form meanwhile.
    """

    heading: str
    became: str
    address: str
    rows: Sequence[Row]
    again: tuple[str, str] = ("", "")

    @property
    def is_live(self) -> bool:
        return any(row.job.state in row.job.OPEN for row in self.rows)


def published(job: PublishJob) -> Row:
    """A build's pairs as a benchmark, or as the next version of the one whose holes they fill."""
    details = "the next version, with its holes filled"
    if not job.fills:
        details = f"systems search: {job.get_pool_display()}"
    return Row(job, job.name, details, QUERIES if job.fills else PAIRS, *_benchmark(job))


def _benchmark(job: PublishJob) -> tuple[str, str]:
    """What the job became, in words and as an address."""
    if job.benchmark is None:
        return "", ""
    return f"{job.benchmark.name}, version {job.benchmark.version}", reverse(
        "benchmark", args=[job.benchmark.pk]
    )


def filled(job: PublishJob, old: Benchmark) -> Row:
    """The next version of `old`; it leads to both beside each other."""
    became, _ = _benchmark(job)
    href = f"{reverse('benchmark-compare', args=[job.benchmark_id])}?with={old.pk}" if became else ""
    return Row(job, f"{job.name}, with the holes filled", f"by {job.build.name}", QUERIES, became, href)


def scored(job: RunJob) -> Row:
    """An uploaded run; it leads to the leaderboard in which it stands."""
    details = f"{job.source}; searched: {job.get_pool_display()}"
    if job.run_id is None:
        notes = [REFUSED] if job.state == RunJob.State.FAILED else []
        return Row(job, job.system, details, notes=notes)
    href = f"{reverse('benchmark', args=[job.benchmark_id])}?pool={job.pool}"
    return Row(job, job.system, details, QUERIES, f"run {job.run_id}", href, job.notes)


def measured(job: ScoreJob) -> Row:
    """Encoders that search a benchmark, or its figures; it leads to the leaderboard that shows them."""
    is_system = job.what == ScoreJob.What.SYSTEM
    title = job.system if is_system else job.get_what_display().capitalize()
    details = f"text: {job.text_option}; " if is_system else f"by {job.options.get('metric')}; "
    asked = {name: job.options[name] for name in ("metric", "found", "errors") if job.options.get(name)}
    board = f"{reverse('benchmark', args=[job.benchmark_id])}?{urlencode({'pool': job.pool, **asked})}"
    done = job.state == ScoreJob.State.DONE
    became = (f"run {job.run_id}" if job.run_id else "computed") if done else ""
    return Row(
        job,
        title,
        f"{details}searched: {job.get_pool_display()}",
        STEPS,
        became,
        board if done else "",
        job.notes,
        reverse("benchmark-score-cancel", args=[job.benchmark_id]) if job.state in job.OPEN else "",
    )


def derived(job: FilterJob) -> Row:
    """A collection of what passed filters, or counts; of one that failed the message says what to change."""
    if job.counts_only:
        became = "the counts below" if job.counts else ""
        href = f"{reverse('collection-filters', args=[job.source_id])}#h-filters"
        return Row(job, "Counts of every filter", "of all members", MEMBERS, became, href if became else "")
    passing = f"passing {', '.join(job.filters)}"
    if job.made is None:
        return Row(job, job.name, passing, MEMBERS)
    became = f"{job.made.name}, version {job.made.version}"
    return Row(job, job.name, passing, MEMBERS, became, reverse("collection", args=[job.made.pk]))
