"""Orders that a worker carries out: list them, look how far one is, cancel one."""

from __future__ import annotations

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router

from annotation.accounts.roles import Role, benchmarks_visible_to, builds_visible_to, has_role
from annotation.api.shared.auth import signed_in
from annotation.builds.control.pause_resume import ControlRefused
from annotation.jobs.wake_up import wake_workers
from annotation.schemas.project.jobs import JobOut, JobPage
from annotation.web.pins.page import filter_visible_pins
from retrieval.jobs import cancel_job
from retrieval.models import Job, Pin
from retrieval.schemas import LARGEST_ID, Id, Page
from retrieval.training.training_job import continue_training
from retrieval.uploads import cancel_import_job, discard_upload

router = Router(tags=["jobs"], auth=signed_in(Role.EXPERT))
KINDS = Job.Kind
OF_BENCHMARKS = (KINDS.EXPORT, KINDS.RUN, KINDS.SCORE, KINDS.LEAKS, KINDS.TRAIN, KINDS.BUGS)
CANCELLED = (KINDS.IMPORT, KINDS.SCORE, KINDS.TRAIN)


@router.get("", response=Page[JobOut])
def list_jobs(request: HttpRequest, wanted: Query[JobPage]) -> Page[JobOut]:
    """Orders, the newest first. Experts see the pins that are computed again, admins all."""
    rows = visible_jobs(request, pk__lt=wanted.after or LARGEST_ID).order_by("-pk")
    for name in ("kind", "subject", "state"):
        if (value := getattr(wanted, name)) is not None:
            rows = rows.filter(**{name: value})
    page = wanted.page(rows)
    return Page(items=[job_out(job) for job in page.items], next=page.next)


@router.get("/{int:pk}", response=JobOut)
def get_job(request: HttpRequest, pk: Path[Id]) -> JobOut:
    """One order: ask again until its state is done, partial, failed or cancelled."""
    return job_out(get_object_or_404(visible_jobs(request, pk=pk)))


@router.post("/{int:pk}/cancel", response=JobOut, auth=signed_in(Role.ADMIN))
def cancel_order(request: HttpRequest, pk: Path[Id]) -> JobOut:
    """Cancel an import, a search or a training that is not over; what was stored before stays. For admins."""
    job = get_object_or_404(visible_jobs(request, pk=pk))
    if job.state == Job.State.COLUMNS:
        told = job_out(job)
        discard_upload(job)
        return told.model_copy(update={"state": "cancelled"})
    if job.kind not in CANCELLED:
        raise ControlRefused("Only an import, a search or a training can be cancelled.")
    if not (cancel_import_job(job) if job.kind == KINDS.IMPORT else cancel_job(job)):
        raise ControlRefused("This order is over: there is nothing to cancel.")
    job.refresh_from_db()
    return job_out(job)


@router.post("/{int:pk}/continue", response=JobOut, auth=signed_in(Role.ADMIN))
def continue_order(request: HttpRequest, pk: Path[Id]) -> JobOut:
    """Continue a training that was cancelled, failed, or stopped by time. For admins."""
    job = get_object_or_404(visible_jobs(request, pk=pk))
    if job.kind != KINDS.TRAIN or not continue_training(job):
        raise ControlRefused("Only a training that is not complete, and not open, can be continued.")
    wake_workers("training")
    job.refresh_from_db()
    return job_out(job)


def visible_jobs(request: HttpRequest, **of: int) -> QuerySet[Job]:
    """Those `of` which the caller may see; without the role admin only pins that are computed again."""
    user, jobs = request.user, Job.objects.filter(**of)
    subjects = jobs.filter(kind=KINDS.REPRODUCE).values("subject")
    pins = [pin.pk for pin in filter_visible_pins(user, Pin.objects.filter(pk__in=subjects).defer("value"))]
    shown = Q(kind=KINDS.REPRODUCE, subject__in=pins)
    if has_role(user, Role.ADMIN):
        shown |= Q(kind__in=(KINDS.IMPORT, KINDS.FILTER))
        shown |= Q(kind__in=OF_BENCHMARKS, subject__in=benchmarks_visible_to(user).values("pk"))
        shown |= Q(kind=KINDS.PUBLISH, subject__in=builds_visible_to(user).values("pk"))
    return jobs.filter(shown).select_related("created_by")


def job_out(job: Job) -> JobOut:
    """The job; the problems of an import stand by themselves."""
    result = {name: value for name, value in job.result.items() if name != "problems"}
    return JobOut.of(job, problems=job.result.get("problems", []), result=result)
