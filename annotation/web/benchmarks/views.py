"""Benchmarks for readers: what there is, who stands where, and one query's lists side by side."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.accounts.roles import FORM, GET, Role, benchmarks_visible_to, blind_in, require_role
from annotation.studies.exposure import mark_seen
from annotation.web.benchmarks import run_upload, versions
from annotation.web.benchmarks.page import benchmark_page, benchmarks_page, query_page
from annotation.web.shared.jobs import render_job_table
from retrieval.evaluation.content import query_members
from retrieval.models import Text


@require_role(Role.READER, GET)
def index(request: HttpRequest) -> HttpResponse:
    found = benchmarks_page(benchmarks_visible_to(request.user))
    context = {"benchmarks": found, "blind": blind_in(request.user)}
    return render(request, "annotation/benchmarks/index.html", context)


@require_role(Role.READER, GET)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_visible_to(request.user).select_related("mining"), pk=pk)
    page = benchmark_page(benchmark, request.GET, request.user)
    return render(request, "annotation/benchmarks/detail.html", {"page": page})


@require_role(Role.READER, GET)
def query(request: HttpRequest, pk: int, query_pk: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    asked = get_object_or_404(Text, pk=query_pk, pk__in=query_members(benchmark).values("text"))
    page = query_page(benchmark, asked, benchmark.runs.all(), request.GET)
    mark_seen(request.user, page["pairs"])
    return render(request, "annotation/benchmarks/query.html", {"page": page})


@require_role(Role.READER, GET)
def compare(request: HttpRequest, pk: int) -> HttpResponse:
    visible = benchmarks_visible_to(request.user)
    page = versions.versions_page(get_object_or_404(visible, pk=pk), visible, request.GET)
    mark_seen(request.user, page["pairs"])
    status = 422 if page["problem"] else 200
    return render(request, "annotation/benchmarks/compare.html", {"page": page}, status=status)


@require_role(Role.ADMIN, FORM)
def upload_run(request: HttpRequest, pk: int) -> HttpResponse:
    """POST scores a file: a large one by a worker, a small one at once."""
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    posted = request.method == "POST"
    form = run_upload.form_for(benchmark, *((request.POST, request.FILES) if posted else ()))
    if posted and form.is_valid() and (job := form.job(benchmark, cast(User, request.user))):
        if "run" not in job.result:
            return redirect("benchmark-upload", pk=benchmark.pk)
        for note in job.result["notes"]:
            messages.success(request, note)
        return redirect("benchmark", pk=benchmark.pk)
    context = {"benchmark": benchmark, "form": form, "table": run_upload.run_jobs_of_benchmark(benchmark)}
    return render(request, "annotation/benchmarks/upload.html", context, status=422 if form.errors else 200)


@require_role(Role.ADMIN, GET)
def upload_jobs(request: HttpRequest, pk: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    return render_job_table(request, run_upload.run_jobs_of_benchmark(benchmark))
