"""Collections: what there is, what is in them, and what comes in."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.accounts.roles import FORM, GET, POST, Role, require_role
from annotation.web.collections import filter_page, upload_columns
from annotation.web.collections.page import collection_page, imports_table
from annotation.web.collections.upload_form import UploadForm, form_for
from annotation.web.collections.upload_guides import GUIDES
from annotation.web.shared.jobs import render_job_table
from annotation.web.shared.requests import person, render_form
from retrieval.collections.filter_job import FilterOrder
from retrieval.jobs import submit_job
from retrieval.models import Collection, Job
from retrieval.uploads import Format, cancel_import_job, discard_upload

MOST_COLLECTIONS = 500


@require_role(Role.ADMIN, GET)
def index(request: HttpRequest) -> HttpResponse:
    context = {"collections": Collection.objects.all()[:MOST_COLLECTIONS], "table": imports_table()}
    return render(request, "annotation/collections/index.html", context)


@require_role(Role.ADMIN, GET)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    collection = get_object_or_404(Collection, pk=pk)
    page = collection_page(collection, position(request, "after"), position(request, "before"))
    return render(request, "annotation/collections/detail.html", {"page": page})


@require_role(Role.ADMIN, GET)
def jobs(request: HttpRequest) -> HttpResponse:
    return render_job_table(request, imports_table())


def position(request: HttpRequest, name: str) -> int | None:
    """A cursor of the query string; anything that is no number is no cursor."""
    given = request.GET.get(name, "")
    return int(given) if given.isdecimal() and len(given) < 10 else None


@require_role(Role.ADMIN, FORM)
def filters(request: HttpRequest, pk: int) -> HttpResponse:
    """POST orders the collection, which a worker makes, or with `count` all counts."""
    collection = get_object_or_404(Collection, pk=pk)
    if "count" in request.POST:
        if filter_page.may_count(collection):
            submit_job(FilterOrder(), person(request), collection.pk)  # counts every filter over all
        return redirect("collection-filters", pk=collection.pk)
    form = filter_page.FilterForm(collection, request.POST if request.method == "POST" else None)
    if form.is_valid() and form.job(person(request)):
        return redirect("collection-filters", pk=collection.pk)
    return render_form(
        request,
        "annotation/collections/filters.html",
        form,
        collection=collection,
        choices=filter_page.choices_of(collection),
        chosen=form["filters"].value() or [],
        may_count=filter_page.may_count(collection),
        table=filter_page.filter_jobs_of_collection(collection),
    )


@require_role(Role.ADMIN, GET)
def filter_jobs(request: HttpRequest, pk: int) -> HttpResponse:
    collection = get_object_or_404(Collection, pk=pk)
    return render_job_table(request, filter_page.filter_jobs_of_collection(collection))


@require_role(Role.ADMIN, FORM)
def upload(request: HttpRequest) -> HttpResponse:
    posted = request.method == "POST"
    form = UploadForm(request.POST, request.FILES) if posted else form_for(request.GET)
    if posted and form.is_valid() and (job := form.job(person(request))):
        return (
            redirect("upload-columns", pk=job.pk) if job.state == job.State.COLUMNS else waits(request, job)
        )
    return render_form(
        request, "annotation/collections/upload.html", form, guides=GUIDES, download_mb=settings.DOWNLOAD_MB
    )


@require_role(Role.ADMIN, FORM)
def columns(request: HttpRequest, pk: int) -> HttpResponse:
    """POST orders the import with the columns that were chosen, or with `discard` takes the upload back."""
    job = get_object_or_404(Job, pk=pk, kind=Job.Kind.IMPORT, order__format=Format.TABLE)
    if job.state != Job.State.COLUMNS:
        messages.info(request, f"The columns of “{job.order['name']}” have been chosen already.")
        return redirect("collections")
    seen = upload_columns.peek_uploaded_table(job)
    if "discard" in request.POST:
        discard_upload(job)
        messages.info(request, f"The upload of “{job.order['name']}” was discarded.")
        return redirect("upload")
    if isinstance(seen, str):
        messages.error(request, f"{seen} Upload it again.")
        return redirect("upload")
    form = upload_columns.ColumnsForm(seen, request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        form.order(job)
        return waits(request, job)
    return render_form(
        request,
        "annotation/collections/upload_columns.html",
        form,
        page=upload_columns.columns_page(job, seen),
    )


@require_role(Role.ADMIN, POST)
def stop(request: HttpRequest, pk: int) -> HttpResponse:
    job = get_object_or_404(Job, pk=pk, kind=Job.Kind.IMPORT)
    if cancel_import_job(job):
        messages.success(request, f"The import of \u201c{job.order['name']}\u201d was cancelled.")
    else:
        messages.info(
            request, f"The import of \u201c{job.order['name']}\u201d is over: there is nothing to cancel."
        )
    return redirect("collections")


def waits(request: HttpRequest, job: Job) -> HttpResponse:
    messages.success(request, f"“{job.order['name']}” waits for a worker; its progress is below.")
    return redirect("collections")
