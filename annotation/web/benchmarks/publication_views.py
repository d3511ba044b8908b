"""A build's pairs as a benchmark: what the merge rule would publish, ordering that, and how far it is."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from annotation.accounts.roles import FORM, GET, Role, builds_visible_to, require_role
from annotation.derived.publish_job import benchmark_published_by
from annotation.models import Build
from annotation.web.benchmarks import publication
from annotation.web.shared.jobs import render_job_table
from annotation.web.shared.requests import person, render_form
from retrieval.models import Job, Pool


@require_role(Role.ADMIN, FORM)
def build(request: HttpRequest, pk: int) -> HttpResponse:
    """GET counts pairs by the source of their label, of many where asked to; POST publishes them.

    That does a worker, of few this request.
    """
    found = visible(request, pk)
    form = publication.PublishForm(
        request.POST or None, initial={"name": found.name, "pool": Pool.COLLECTION}
    )
    if form.is_valid() and (job := form.job(found, person(request))):
        return leave(request, job, "build-publish")
    page = publication.publish_page(found, counted="counted" in request.GET)
    return render_form(
        request, "annotation/benchmarks/build_publish.html", form, page=page, table=page["jobs"]
    )


@require_role(Role.ADMIN, FORM)
def correct(request: HttpRequest, pk: int) -> HttpResponse:
    """The corrected labels of the given pairs that a build judged, as the next version of their benchmark."""
    found = visible(request, pk)
    if found.pair_list is None or found.pair_list.benchmark is None:
        raise Http404("The build has no given pairs with labels.")
    benchmark = found.pair_list.benchmark
    form = publication.CorrectForm(request.POST or None, initial={"name": benchmark.name})
    if form.is_valid() and (job := form.job(found, benchmark, person(request))):
        return leave(request, job, "build-correct")
    page = publication.correct_page(found, benchmark)
    return render_form(
        request, "annotation/benchmarks/build_correct.html", form, page=page, table=page["jobs"]
    )


@require_role(Role.ADMIN, GET)
def publication_jobs(request: HttpRequest, pk: int) -> HttpResponse:
    return render_job_table(request, publication.publish_jobs_of_build(visible(request, pk)))


def leave(request: HttpRequest, job: Job, page: str) -> HttpResponse:
    """To the benchmark that was published, or to the `page` of the build on which that is awaited."""
    made = benchmark_published_by(job)
    if made is None:
        return redirect(page, pk=job.subject)
    messages.success(request, f"Published as {made}. Publishing the same again changes nothing.")
    return redirect("benchmark", pk=made.pk)


def visible(request: HttpRequest, pk: int) -> Build:
    builds = builds_visible_to(request.user).select_related(
        "annotator", "tally", "mining__queries", "mining__snippets", "pair_list__benchmark"
    )
    return get_object_or_404(builds, pk=pk, opened=True)
