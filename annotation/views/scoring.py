"""Have encoders search a benchmark, or its figures computed, by a worker: order, look, cancel."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import tasks
from annotation.access import Role, benchmarks_visible_to, needs
from annotation.pages import scoring as pages
from annotation.pages.paging import whole_number


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def index(request: HttpRequest, pk: int) -> HttpResponse:
    """POST orders the search and its scores."""
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    form = pages.ScoreForm(benchmark, request.POST if request.method == "POST" else None)
    if form.is_valid() and form.order(cast(User, request.user)):
        tasks.wake("mining")
        return redirect(f"{reverse('benchmark-score', args=[pk])}#jobs")
    context = {
        "benchmark": benchmark,
        "form": form,
        "chosen": form["encoders"].value() or [],
        "table": pages.jobs_of(benchmark),
    }
    return render(request, "annotation/benchmark_score.html", context, status=422 if form.errors else 200)


@require_POST
@needs(Role.ADMIN)
def figures(request: HttpRequest, pk: int) -> HttpResponse:
    """Order the figures of the board that the page shows."""
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    try:
        pages.figures_ordered(benchmark, cast(User, request.user), request.POST)
        tasks.wake("mining")
    except pages.NotOrdered as why:
        messages.error(request, str(why))
    return redirect(f"{reverse('benchmark-score', args=[pk])}#jobs")


@require_POST
@needs(Role.ADMIN)
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    if not pages.cancelled(benchmark, whole_number(request.POST.get("job", ""))):
        messages.error(request, "That order has ended already.")
    return redirect(f"{reverse('benchmark-score', args=[pk])}#jobs")


@require_safe
@needs(Role.ADMIN)
def jobs(request: HttpRequest, pk: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    context = {"table": pages.jobs_of(benchmark), "ended": True}
    return render(request, "annotation/benchmark_score.html#jobs", context)
