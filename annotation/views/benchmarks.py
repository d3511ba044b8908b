"""Benchmarks for readers: what there is, who stands where, and one query's lists side by side."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import Role, benchmarks_visible_to, blind_in, needs
from annotation.pages import benchmarks as pages
from annotation.pages import run_uploading, versions
from annotation.seen import mark_seen
from retrieval.evaluation.content import query_members
from retrieval.models import Text


@require_safe
@needs(Role.READER)
def index(request: HttpRequest) -> HttpResponse:
    found = pages.benchmarks_page(benchmarks_visible_to(request.user))
    context = {"benchmarks": found, "blind": blind_in(request.user)}
    return render(request, "annotation/benchmarks.html", context)


@require_safe
@needs(Role.READER)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_visible_to(request.user).select_related("mining"), pk=pk)
    page = pages.benchmark_page(benchmark, request.GET, request.user)
    return render(request, "annotation/benchmark.html", {"page": page})


@require_safe
@needs(Role.READER)
def query(request: HttpRequest, pk: int, query_pk: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    asked = get_object_or_404(Text, pk=query_pk, pk__in=query_members(benchmark).values("text"))
    page = pages.query_page(benchmark, asked, benchmark.runs.all(), request.GET)
    mark_seen(request.user, page.pairs)
    return render(request, "annotation/benchmark_query.html", {"page": page})


@require_safe
@needs(Role.READER)
def compare(request: HttpRequest, pk: int) -> HttpResponse:
    visible = benchmarks_visible_to(request.user)
    page = versions.versions_page(get_object_or_404(visible, pk=pk), visible, request.GET)
    mark_seen(request.user, page.pairs)
    status = 422 if page.problem else 200
    return render(request, "annotation/benchmark_compare.html", {"page": page}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def upload_run(request: HttpRequest, pk: int) -> HttpResponse:
    """POST scores a file: a large one by a worker, a small one at once."""
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    posted = request.method == "POST"
    form = run_uploading.form_for(benchmark, *((request.POST, request.FILES) if posted else ()))
    if posted and form.is_valid() and (job := form.job(benchmark, cast(User, request.user))):
        if job.run_id is None:
            return redirect("benchmark-upload", pk=benchmark.pk)
        for note in job.notes:
            messages.success(request, note)
        return redirect("benchmark", pk=benchmark.pk)
    context = {"benchmark": benchmark, "form": form, "table": run_uploading.jobs_of(benchmark)}
    return render(request, "annotation/benchmark_upload.html", context, status=422 if form.errors else 200)


@require_safe
@needs(Role.ADMIN)
def upload_jobs(request: HttpRequest, pk: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    context = {"table": run_uploading.jobs_of(benchmark), "ended": True}
    return render(request, "annotation/benchmark_upload.html#jobs", context)
