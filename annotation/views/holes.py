"""Fill the holes of a run: what that takes, the launch, and the benchmark that comes of it."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import holes
from annotation.access import Role, benchmarks_visible_to, builds_visible_to, needs
from annotation.estimating import confirming
from annotation.launching import LaunchRefused
from annotation.pages import holes as pages
from annotation.pages.paging import whole_number
from annotation.releasing import PublishRefused
from retrieval.counting import counted
from retrieval.evaluation.holes import NoHoles


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def fill(request: HttpRequest, pk: int) -> HttpResponse:
    """GET shows how many pairs are meant and what they would take; POST launches the build."""
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    params = request.POST if request.method == "POST" else request.GET
    page = pages.holes_page(benchmark, builds_visible_to(request.user), params)
    if request.method == "POST" and page.offer:
        fill, word = page.offer.plan.fill, request.POST.get("estimate", "")
        try:
            confirming.refuse_unshown(fill.provider, word)
            build = holes.launch(fill, request.user, word)
        except (LaunchRefused, NoHoles) as refused:
            page.form.add_error(None, str(refused))
        else:
            messages.success(request, unjudged(page.offer.plan.pairs, "is judged", "are judged"))
            return redirect("build", pk=build.pk)
    wrong = page.form.is_bound and page.form.errors
    return render(request, "annotation/benchmark_holes.html", context_of(page), status=422 if wrong else 200)


def unjudged(number: int, one: str, several: str) -> str:
    """What becomes of so many results, in a sentence."""
    return f"{counted(number, 'unjudged result')} {one if number == 1 else several}."


@require_POST
@needs(Role.ADMIN)
def queue(request: HttpRequest, pk: int) -> HttpResponse:
    """Have experts judge the pairs: they wait in plain review, and a study can draw them."""
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    page = pages.holes_page(benchmark, builds_visible_to(request.user), request.POST)
    if page.offer:
        try:
            build = holes.queue(page.offer.plan.fill, request.user)
        except (LaunchRefused, NoHoles) as refused:
            page.form.add_error(None, str(refused))
        else:
            told = unjudged(page.offer.plan.pairs, "waits for experts", "wait for experts")
            messages.success(request, told)
            return redirect("build", pk=build.pk)
    return render(request, "annotation/benchmark_holes.html", context_of(page), status=422)


@require_POST
@needs(Role.ADMIN)
def publish(request: HttpRequest, pk: int) -> HttpResponse:
    """Publish the next version of a benchmark with what `build` said of its holes; large ones wait."""
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    build = get_object_or_404(
        builds_visible_to(request.user),
        pk=whole_number(request.POST.get("build", "")),
        mining__holes__run__benchmark=benchmark,
    )
    try:
        job = pages.published(build, cast(User, request.user))
    except (NoHoles, PublishRefused) as why:
        messages.error(request, str(why))
        return redirect("benchmark-holes", pk=pk)
    if job.benchmark is None:
        if job.message:
            messages.error(request, job.message)
        return redirect(f"{reverse('benchmark-holes', args=[pk])}#jobs")
    messages.success(
        request, f"{job.benchmark} is published: scores before and after stand beside each other."
    )
    return redirect(f"{reverse('benchmark-compare', args=[job.benchmark.pk])}?with={benchmark.pk}")


@require_safe
@needs(Role.ADMIN)
def jobs(request: HttpRequest, pk: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    context = {"table": pages.jobs_of(benchmark, builds_visible_to(request.user)), "ended": True}
    return render(request, "annotation/benchmark_holes.html#jobs", context)


def context_of(page: pages.HolesPage) -> dict[str, object]:
    return {"page": page, "table": page.jobs}
