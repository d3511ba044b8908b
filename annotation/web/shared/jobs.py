"""Orders that a worker performs, as the pages list on which they are given: what waits, runs and ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.derived.publish_job import PublishOrder
from retrieval.collections.filter_job import FilterOrder
from retrieval.evaluation.runs.jobs import RunOrder
from retrieval.evaluation.runs.score_jobs import ScoreOrder, What
from retrieval.models import Benchmark, Job
from retrieval.texts.plurals import count_noun

SHOWN: Final = 5
PERCENT: Final = "%"
REFUSED: Final = "Nothing was kept: put that right, and upload the file again."


@dataclass(frozen=True, slots=True)
class Retry:
    """Where the same is ordered again, in words: a link, or a form that posts `fields`."""

    address: str
    words: str
    fields: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class JobRow:
    """An order: `title` and `details` say what was ordered, `became` what came of it, to be found at `href`.

    `unit` is what its progress counts, with the plural of a word that needs one. `remarks` stand beside what
    it became, `notes` and lists that are `folded` under their headings below the title. `cancel`: where it is
    cancelled, `columns`: where the columns of a table are chosen.
    """

    job: Job
    title: str
    details: Sequence[str] = ()
    unit: Sequence[str] = ("query", "queries")
    became: str = ""
    href: str = ""
    notes: Sequence[str] = ()
    remarks: Sequence[str] = ()
    folded: Sequence[tuple[str, Sequence[str]]] = ()
    cancel: str = ""
    columns: str = ""
    retry: Retry | None = None

    @property
    def progress(self) -> str:
        """How far a running one is, in words."""
        job = self.job
        if job.state != Job.State.RUNNING or not (job.total or job.done):
            return ""
        if not job.done:
            return "reading …"
        if self.unit == (PERCENT,):
            return f"{job.done} % read"
        counted = count_noun(job.total or job.done, *self.unit)
        return f"{job.done:,} of {counted}" if job.total else f"{counted} done"


@dataclass(frozen=True, slots=True)
class Table:
    """The newest orders of a page under its `heading`; `address` is asked for them again while one is open.

    `again`: where another one is ordered, and the words of that link, for pages without the form meanwhile.
    `empty`: what is said where nothing was ordered; without it the table is left out.
    """

    heading: str
    became: str
    address: str
    rows: Sequence[JobRow]
    again: tuple[str, str] = ("", "")
    empty: str = ""

    @property
    def is_live(self) -> bool:
        return any(row.job.is_open for row in self.rows)


def build_job_table(
    rows: QuerySet[Job],
    row_of: Callable[[Job], JobRow],
    heading: str,
    became: str,
    address: str,
    *,
    shown: int = SHOWN,
    again: tuple[str, str] = ("", ""),
    empty: str = "",
) -> Table:
    """The table of the newest of these orders, each as `row_of` tells it."""
    found = rows.select_related("created_by")[:shown]
    return Table(heading, became, address, [row_of(job) for job in found], again, empty)


def render_job_table(request: HttpRequest, table: Table) -> HttpResponse:
    """The table alone, as a page asks for it again and again."""
    return render(request, "annotation/shared/_jobs.html", {"table": table, "ended": True})


def build_publish_job_row(job: Job) -> JobRow:
    """A build's pairs as a benchmark, or as the next version of the one whose holes they fill."""
    order = PublishOrder.of(job)
    row = JobRow(job, order.name, ["the next version, with its holes filled"], became=title_of(job))
    if not order.fills:
        row = replace(row, details=[f"systems search: {order.pool.label}"], unit=("pair",))
    return replace(row, href=reverse("benchmark", args=[job.result["benchmark"]])) if row.became else row


def title_of(job: Job) -> str:
    """What the job became, in words; empty before."""
    return str(job.result.get("title", ""))


def build_refill_job_row(job: Job, build: str, old: Benchmark) -> JobRow:
    """The next version of `old`, by the build of this name; it leads to both beside each other."""
    row = JobRow(job, f"{job.order['name']}, with the holes filled", [f"by {build}"], became=title_of(job))
    if not row.became:
        return row
    both = f"{reverse('benchmark-compare', args=[job.result['benchmark']])}?with={old.pk}"
    return replace(row, href=both)


def build_run_job_row(job: Job) -> JobRow:
    """An uploaded run; it leads to the leaderboard in which it stands."""
    order = RunOrder.of(job)
    row = JobRow(job, order.system, [f"{order.source}; searched: {order.pool.label}"])
    if "run" not in job.result:
        return replace(row, notes=[REFUSED] if job.state == Job.State.FAILED else [])
    href = f"{reverse('benchmark', args=[job.subject])}?pool={order.pool}"
    return replace(row, became=f"run {job.result['run']}", href=href, notes=job.result["notes"])


def build_score_job_row(job: Job) -> JobRow:
    """Encoders that search a benchmark, or its figures; it leads to the leaderboard that shows them."""
    order = ScoreOrder.of(job)
    is_system = order.what == What.SYSTEM
    title = order.system if is_system else order.what.label.capitalize()
    details = f"text: {order.text_option}" if is_system else f"by {order.options.get('metric')}"
    row = JobRow(job, title, [f"{details}; searched: {order.pool.label}"], ("step",))
    if job.is_open:
        return replace(row, cancel=reverse("benchmark-score-cancel", args=[job.subject]))
    if job.state != Job.State.DONE:
        return row
    became = f"run {job.result['run']}" if "run" in job.result else "computed"
    return replace(row, became=became, href=board_of(job, order), notes=job.result.get("notes", ()))


def board_of(job: Job, order: ScoreOrder) -> str:
    """The address of the leaderboard that an order is about."""
    asked = {name: order.options[name] for name in ("metric", "found", "errors") if order.options.get(name)}
    return f"{reverse('benchmark', args=[job.subject])}?{urlencode({'pool': order.pool, **asked})}"


def build_filter_job_row(job: Job) -> JobRow:
    """A collection of what passed filters, or counts; of one that failed the message says what to change."""
    order = FilterOrder.of(job)
    if order.counts_only:
        row = JobRow(job, "Counts of every filter", ["of all members"], ("member",))
        counted = f"{reverse('collection-filters', args=[job.subject])}#h-filters"
        return replace(row, became="the counts below", href=counted) if job.result else row
    row = JobRow(job, order.name, [f"passing {', '.join(order.filters)}"], ("member",), title_of(job))
    return replace(row, href=reverse("collection", args=[job.result["collection"]])) if row.became else row
