"""Have encoders search a benchmark, or its figures computed, by a worker: order, look, cancel."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation.accounts.roles import FORM, GET, POST, Role, benchmarks_visible_to, require_role
from annotation.jobs import celery_tasks
from annotation.web.benchmarks.score_jobs import (
    NotOrdered,
    ScoreForm,
    cancel_score_job,
    figures_ordered,
    score_jobs_of_benchmark,
)
from annotation.web.shared.jobs import render_job_table
from annotation.web.shared.pagination import whole_number


@require_role(Role.ADMIN, FORM)
def index(request: HttpRequest, pk: int) -> HttpResponse:
    """POST orders the search and its scores."""
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    form = ScoreForm(benchmark, request.POST if request.method == "POST" else None)
    if form.is_valid() and form.order(cast(User, request.user)):
        celery_tasks.wake("mining")
        return redirect(f"{reverse('benchmark-score', args=[pk])}#jobs")
    context = {
        "benchmark": benchmark,
        "form": form,
        "chosen": form["encoders"].value() or [],
        "table": score_jobs_of_benchmark(benchmark),
    }
    return render(request, "annotation/benchmarks/score.html", context, status=422 if form.errors else 200)


@require_role(Role.ADMIN, POST)
def figures(request: HttpRequest, pk: int) -> HttpResponse:
    """Order the figures of the board that the page shows."""
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    try:
        figures_ordered(benchmark, cast(User, request.user), request.POST)
        celery_tasks.wake("mining")
    except NotOrdered as why:
        messages.error(request, str(why))
    return redirect(f"{reverse('benchmark-score', args=[pk])}#jobs")


@require_role(Role.ADMIN, POST)
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    if not cancel_score_job(benchmark, whole_number(request.POST.get("job", ""))):
        messages.error(request, "That order has ended already.")
    return redirect(f"{reverse('benchmark-score', args=[pk])}#jobs")


@require_role(Role.ADMIN, GET)
def score_jobs(request: HttpRequest, pk: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    return render_job_table(request, score_jobs_of_benchmark(benchmark))
