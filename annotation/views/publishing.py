"""A build's pairs as a benchmark: what the merge rule would publish, ordering that, and how far it is."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import Role, builds_visible_to, needs
from annotation.models import Build
from annotation.pages import correcting
from annotation.pages import publishing as pages


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def build(request: HttpRequest, pk: int) -> HttpResponse:
    """GET counts pairs by the source of their label, of many where asked to; POST publishes them.

    That does a worker, of few this request.
    """
    found = visible(request, pk)
    form = pages.PublishForm(request.POST or None, initial=pages.initial(found))
    if form.is_valid() and (job := form.job(found, cast(User, request.user))):
        if job.benchmark is None:
            return redirect("build-publish", pk=found.pk)
        messages.success(request, f"Published as {job.benchmark}. Publishing the same again changes nothing.")
        return redirect("benchmark", pk=job.benchmark.pk)
    page = pages.publish_page(found, counted="counted" in request.GET)
    context = {"page": page, "table": page.jobs, "form": form}
    return render(request, "annotation/build_publish.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def correct(request: HttpRequest, pk: int) -> HttpResponse:
    """The corrected labels of the given pairs that a build judged, as the next version of their benchmark."""
    found = visible(request, pk)
    if found.given is None or found.given.benchmark is None:
        raise Http404("The build has no given pairs with labels.")
    benchmark = found.given.benchmark
    form = correcting.CorrectForm(request.POST or None, initial={"name": benchmark.name})
    if form.is_valid() and (job := form.job(found, benchmark, cast(User, request.user))):
        if job.benchmark is None:
            return redirect("build-correct", pk=found.pk)
        messages.success(request, f"Published as {job.benchmark}. Publishing the same again changes nothing.")
        return redirect("benchmark", pk=job.benchmark.pk)
    page = correcting.correct_page(found, benchmark)
    context = {"page": page, "table": page.jobs, "form": form}
    return render(request, "annotation/build_correct.html", context, status=422 if form.errors else 200)


@require_safe
@needs(Role.ADMIN)
def jobs(request: HttpRequest, pk: int) -> HttpResponse:
    context = {"table": pages.jobs_of(visible(request, pk)), "ended": True}
    return render(request, "annotation/build_publish.html#jobs", context)


def visible(request: HttpRequest, pk: int) -> Build:
    builds = builds_visible_to(request.user).select_related(
        "annotator", "tally", "mining__queries", "mining__snippets", "given__benchmark"
    )
    return get_object_or_404(builds, pk=pk, opened=True)
