"""Exports of a benchmark: what was written, ordering another one, and the files.

For admins alone: whoever has the file has seen all labels, and may rate none of these pairs blind any more.
"""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import Role, benchmarks_visible_to, needs
from annotation.pages import exports as pages
from annotation.seen import mark_benchmark_seen
from retrieval.exporting.jobs import file_of, name_of
from retrieval.models import Benchmark, ExportJob


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def index(request: HttpRequest, pk: int) -> HttpResponse:
    benchmark = visible(request, pk)
    form = pages.ExportForm(request.POST or None, benchmark=benchmark)
    if form.is_valid() and form.job(benchmark, cast(User, request.user)):
        messages.success(request, "A worker writes the export; its progress is below.")
        return redirect("benchmark-exports", pk=benchmark.pk)
    context = {"page": pages.exports_page(benchmark), "form": form}
    return render(request, "annotation/exports.html", context, status=422 if form.errors else 200)


@require_safe
@needs(Role.ADMIN)
def jobs(request: HttpRequest, pk: int) -> HttpResponse:
    context = {"page": pages.exports_page(visible(request, pk))}
    return render(request, "annotation/exports.html#jobs", context)


@require_safe
@needs(Role.ADMIN)
def download(request: HttpRequest, pk: int, job_pk: int) -> HttpResponseBase:
    """The file, streamed."""
    found = visible(request, pk).exports.select_related("benchmark").filter(state=ExportJob.State.DONE)
    job = get_object_or_404(found, pk=job_pk)
    path = file_of(settings.COSQA_HOME, job)
    if not path.is_file():
        raise Http404("The file was removed, or is on another machine: the page of exports makes it again.")
    mark_benchmark_seen(request.user, job.benchmark)
    return FileResponse(path.open("rb"), as_attachment=True, filename=name_of(job))


def visible(request: HttpRequest, pk: int) -> Benchmark:
    return get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
