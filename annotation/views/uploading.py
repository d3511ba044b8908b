"""Uploads: the form, and for a table which of its columns is what."""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import Role, needs
from annotation.pages import upload_columns as pages
from annotation.pages.upload_guides import GUIDES
from annotation.pages.uploading import UploadForm, form_for
from retrieval.models import ImportJob
from retrieval.uploads import cancel, discard


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def upload(request: HttpRequest) -> HttpResponse:
    posted = request.method == "POST"
    form = UploadForm(request.POST, request.FILES) if posted else form_for(request.GET)
    if posted and form.is_valid() and (job := form.job(cast(User, request.user))):
        return (
            redirect("upload-columns", pk=job.pk) if job.state == job.State.COLUMNS else waits(request, job)
        )
    context = {"form": form, "guides": GUIDES, "download_mb": settings.DOWNLOAD_MB}
    return render(request, "annotation/upload.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def columns(request: HttpRequest, pk: int) -> HttpResponse:
    """POST orders the import with the columns that were chosen, or with `discard` takes the upload back."""
    job = get_object_or_404(ImportJob, pk=pk, format=ImportJob.Format.TABLE)
    if job.state != ImportJob.State.COLUMNS:
        messages.info(request, f"The columns of “{job.name}” were chosen already.")
        return redirect("collections")
    seen = pages.peeked(job)
    if "discard" in request.POST:
        discard(job)
        messages.info(request, f"The upload of “{job.name}” was discarded.")
        return redirect("upload")
    if isinstance(seen, str):
        messages.error(request, f"{seen} Upload it again.")
        return redirect("upload")
    form = pages.ColumnsForm(seen, request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        form.order(job)
        return waits(request, job)
    context = {"form": form, "page": pages.columns_page(job, seen)}
    return render(request, "annotation/upload_columns.html", context, status=422 if form.errors else 200)


@require_POST
@needs(Role.ADMIN)
def stop(request: HttpRequest, pk: int) -> HttpResponse:
    job = get_object_or_404(ImportJob, pk=pk)
    if cancel(job):
        messages.success(request, f"The import of \u201c{job.name}\u201d was cancelled.")
    else:
        messages.info(request, f"The import of \u201c{job.name}\u201d is over: there is nothing to cancel.")
    return redirect("collections")


def waits(request: HttpRequest, job: ImportJob) -> HttpResponse:
    messages.success(request, f"“{job.name}” waits for a worker; its progress is below.")
    return redirect("collections")
