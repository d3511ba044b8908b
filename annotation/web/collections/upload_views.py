"""Uploads: the form, and for a table which of its columns is what."""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.accounts.roles import FORM, POST, Role, require_role
from annotation.web.collections import upload_columns
from annotation.web.collections.upload_form import UploadForm, form_for
from annotation.web.collections.upload_guides import GUIDES
from retrieval.models import Job
from retrieval.uploads import Format, cancel_import_job, discard_upload


@require_role(Role.ADMIN, FORM)
def upload(request: HttpRequest) -> HttpResponse:
    posted = request.method == "POST"
    form = UploadForm(request.POST, request.FILES) if posted else form_for(request.GET)
    if posted and form.is_valid() and (job := form.job(cast(User, request.user))):
        return (
            redirect("upload-columns", pk=job.pk) if job.state == job.State.COLUMNS else waits(request, job)
        )
    context = {"form": form, "guides": GUIDES, "download_mb": settings.DOWNLOAD_MB}
    return render(request, "annotation/collections/upload.html", context, status=422 if form.errors else 200)


@require_role(Role.ADMIN, FORM)
def columns(request: HttpRequest, pk: int) -> HttpResponse:
    """POST orders the import with the columns that were chosen, or with `discard` takes the upload back."""
    job = get_object_or_404(Job, pk=pk, kind=Job.Kind.IMPORT, order__format=Format.TABLE)
    if job.state != Job.State.COLUMNS:
        messages.info(request, f"The columns of “{job.order['name']}” were chosen already.")
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
    context = {"form": form, "page": upload_columns.columns_page(job, seen)}
    return render(
        request, "annotation/collections/upload_columns.html", context, status=422 if form.errors else 200
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
