"""Fill the holes of a run: what that takes, the launch, and the benchmark that comes of it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from annotation import holes
from annotation.access import Role, benchmarks_visible_to, builds_visible_to, needs
from annotation.launching import LaunchRefused
from annotation.pages.holes import holes_page
from annotation.pages.paging import whole_number
from retrieval.evaluation.holes import NoHoles


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def fill(request: HttpRequest, pk: int) -> HttpResponse:
    """GET shows how many pairs are meant and what they would take; POST launches the build."""
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    params = request.POST if request.method == "POST" else request.GET
    page = holes_page(benchmark, builds_visible_to(request.user), params)
    if request.method == "POST" and page.offer:
        try:
            build = holes.launch(page.offer.plan.fill, request.user, request.POST.get("estimate", ""))
        except (LaunchRefused, NoHoles) as refused:
            page.form.add_error(None, str(refused))
        else:
            messages.success(request, f"{page.offer.plan.pairs:,} unjudged results are judged.")
            return redirect("build", pk=build.pk)
    wrong = page.form.is_bound and page.form.errors
    return render(request, "annotation/benchmark_holes.html", {"page": page}, status=422 if wrong else 200)


@require_POST
@needs(Role.ADMIN)
def queue(request: HttpRequest, pk: int) -> HttpResponse:
    """Have experts judge the pairs: they wait in plain review, and a study can draw them."""
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    page = holes_page(benchmark, builds_visible_to(request.user), request.POST)
    if page.offer:
        try:
            build = holes.queue(page.offer.plan.fill, request.user)
        except (LaunchRefused, NoHoles) as refused:
            page.form.add_error(None, str(refused))
        else:
            messages.success(request, f"{page.offer.plan.pairs:,} unjudged results wait for experts.")
            return redirect("build", pk=build.pk)
    return render(request, "annotation/benchmark_holes.html", {"page": page}, status=422)


@require_POST
@needs(Role.ADMIN)
def publish(request: HttpRequest, pk: int) -> HttpResponse:
    """Publish the next version of a benchmark with what `build` said of the holes."""
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    build = get_object_or_404(
        builds_visible_to(request.user),
        pk=whole_number(request.POST.get("build", "")),
        mining__holes__run__benchmark=benchmark,
    )
    try:
        made = holes.publish(build)
    except NoHoles as why:
        messages.error(request, str(why))
        return redirect("benchmark-holes", pk=pk)
    messages.success(request, f"{made} is published: scores before and after stand beside each other.")
    return redirect(f"{reverse('benchmark-compare', args=[made.pk])}?with={benchmark.pk}")
