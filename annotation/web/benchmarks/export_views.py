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

from annotation.accounts.roles import FORM, GET, Role, benchmarks_visible_to, require_role
from annotation.studies.exposure import mark_benchmark_seen
from annotation.web.benchmarks import exports
from annotation.web.shared.jobs import render_job_table
from retrieval.exporting.jobs.order import ExportOrder, export_file_name, file_of
from retrieval.models import Benchmark, Job


@require_role(Role.ADMIN, FORM)
def index(request: HttpRequest, pk: int) -> HttpResponse:
    benchmark = visible(request, pk)
    form = exports.ExportForm(request.POST or None, benchmark=benchmark)
    if form.is_valid() and form.job(benchmark, cast(User, request.user)):
        messages.success(request, "A worker writes the export; its progress is below.")
        return redirect("benchmark-exports", pk=benchmark.pk)
    context = {"benchmark": benchmark, "table": exports.export_jobs_of_benchmark(benchmark), "form": form}
    return render(request, "annotation/benchmarks/exports.html", context, status=422 if form.errors else 200)


@require_role(Role.ADMIN, GET)
def export_jobs(request: HttpRequest, pk: int) -> HttpResponse:
    return render_job_table(request, exports.export_jobs_of_benchmark(visible(request, pk)))


@require_role(Role.ADMIN, GET)
def download(request: HttpRequest, pk: int, job_pk: int) -> HttpResponseBase:
    """The file, streamed."""
    benchmark = visible(request, pk)
    done = Job.objects.about(Job.Kind.EXPORT, benchmark.pk).filter(state=Job.State.DONE)
    job = get_object_or_404(done, pk=job_pk)
    path = file_of(settings.COSQA_HOME, job)
    if not path.is_file():
        raise Http404("The file was removed, or is on another machine: the page of exports makes it again.")
    mark_benchmark_seen(request.user, benchmark)
    name = export_file_name(benchmark, ExportOrder.of(job))
    return FileResponse(path.open("rb"), as_attachment=True, filename=name)


def visible(request: HttpRequest, pk: int) -> Benchmark:
    return get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
