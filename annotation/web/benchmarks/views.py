"""Benchmarks: what there is, who stands where; runs, scores and exports that people order.

Whoever has an export has seen all labels, and may rate none of these pairs blind any more.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation.accounts.roles import FORM, GET, POST, Role, benchmarks_visible_to, blind_in, require_role
from annotation.jobs.wake_up import wake_workers
from annotation.studies.exposure import mark_benchmark_seen, mark_seen
from annotation.web.benchmarks import exports, run_upload, versions
from annotation.web.benchmarks.contamination import (
    ContaminationForm,
    comparisons_of_benchmark,
    contamination_page,
)
from annotation.web.benchmarks.distractors import (
    DistractorForm,
    distractor_jobs_of_benchmark,
    distractors_page,
)
from annotation.web.benchmarks.page import benchmark_page, benchmarks_page, leaderboard_tables, query_page
from annotation.web.benchmarks.score_jobs import (
    NotOrdered,
    ScoreForm,
    cancel_score_job,
    figures_ordered,
    score_jobs_of_benchmark,
)
from annotation.web.benchmarks.similarity import (
    SimilarityForm,
    similarity_jobs_of_benchmark,
    similarity_page,
)
from annotation.web.shared.downloads import attach_table
from annotation.web.shared.jobs import render_job_table
from annotation.web.shared.pagination import whole_number
from annotation.web.shared.requests import person, render_form, say_refusals
from retrieval.evaluation.content import query_members
from retrieval.exporting.jobs.order import ExportOrder, export_file_name, file_of
from retrieval.models import Benchmark, Job, Text


@require_role(Role.READER, GET)
def index(request: HttpRequest) -> HttpResponse:
    found = benchmarks_page(benchmarks_visible_to(request.user))
    context = {"benchmarks": found, "blind": blind_in(request.user)}
    return render(request, "annotation/benchmarks/index.html", context)


@require_role(Role.READER, GET)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_visible_to(request.user).select_related("mining"), pk=pk)
    if "table" in request.GET:
        tables = leaderboard_tables(benchmark, request.GET, request.user)
        return attach_table(tables, request.GET, f"benchmark-{benchmark.pk}")
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
    if "table" in request.GET:
        return attach_table(page["tables"], request.GET, f"versions-{pk}")
    status = 422 if page["problem"] else 200
    return render(request, "annotation/benchmarks/compare.html", {"page": page}, status=status)


@require_role(Role.ADMIN, FORM)
def upload_run(request: HttpRequest, pk: int) -> HttpResponse:
    """POST scores a file: a large one by a worker, a small one at once."""
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    posted = request.method == "POST"
    form = run_upload.RunForm(benchmark, *((request.POST, request.FILES) if posted else ()))
    if posted and form.is_valid() and (job := form.job(benchmark, person(request))):
        if "run" not in job.result:
            return redirect("benchmark-upload", pk=benchmark.pk)
        for note in job.result["notes"]:
            messages.success(request, note)
        return redirect("benchmark", pk=benchmark.pk)
    table = run_upload.run_jobs_of_benchmark(benchmark)
    return render_form(request, "annotation/benchmarks/upload.html", form, benchmark=benchmark, table=table)


@require_role(Role.ADMIN, GET)
def upload_jobs(request: HttpRequest, pk: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    return render_job_table(request, run_upload.run_jobs_of_benchmark(benchmark))


@require_role(Role.ADMIN, FORM)
def score(request: HttpRequest, pk: int) -> HttpResponse:
    """POST orders the search and its scores."""
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    form = ScoreForm(benchmark, request.POST if request.method == "POST" else None)
    if form.is_valid() and form.order(person(request)):
        wake_workers("mining")
        return redirect(f"{reverse('benchmark-score', args=[pk])}#jobs")
    return render_form(
        request,
        "annotation/benchmarks/score.html",
        form,
        benchmark=benchmark,
        chosen=form["encoders"].value() or [],
        table=score_jobs_of_benchmark(benchmark),
    )


@require_role(Role.ADMIN, POST)
def order_figures(request: HttpRequest, pk: int) -> HttpResponse:
    """Order the figures of the board that the page shows."""
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    with say_refusals(request, NotOrdered):
        figures_ordered(benchmark, person(request), request.POST)
        wake_workers("mining")
    return redirect(f"{reverse('benchmark-score', args=[pk])}#jobs")


@require_role(Role.ADMIN, POST)
def cancel_score(request: HttpRequest, pk: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    if not cancel_score_job(benchmark, whole_number(request.POST.get("job", ""))):
        messages.error(request, "That order has already finished.")
    return redirect(f"{reverse('benchmark-score', args=[pk])}#jobs")


@require_role(Role.ADMIN, GET)
def score_jobs(request: HttpRequest, pk: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    return render_job_table(request, score_jobs_of_benchmark(benchmark))


@require_role(Role.ADMIN, FORM)
def contamination(request: HttpRequest, pk: int) -> HttpResponse:
    """POST orders the comparison; `?table=` and `?format=` take a table home."""
    benchmark = visible_benchmark(request, pk)
    form = ContaminationForm(request.POST if request.method == "POST" else None)
    if form.is_valid() and form.order(benchmark, person(request)):
        return redirect(f"{reverse('benchmark-contamination', args=[pk])}#jobs")
    page = contamination_page(benchmark, request.GET)
    if page["found"]:
        mark_benchmark_seen(request.user, benchmark)
    if "table" in request.GET:
        return attach_table(page["tables"], request.GET, f"contamination-{pk}")
    table = comparisons_of_benchmark(benchmark)
    template = "annotation/benchmarks/contamination.html"
    return render_form(request, template, form, benchmark=benchmark, page=page, table=table)


@require_role(Role.ADMIN, GET)
def contamination_jobs(request: HttpRequest, pk: int) -> HttpResponse:
    return render_job_table(request, comparisons_of_benchmark(visible_benchmark(request, pk)))


@require_role(Role.ADMIN, FORM)
def distractors(request: HttpRequest, pk: int) -> HttpResponse:
    """POST orders a benchmark with distractors."""
    benchmark = visible_benchmark(request, pk)
    form = DistractorForm(request.POST if request.method == "POST" else None)
    if form.is_valid() and form.order(benchmark, person(request)):
        wake_workers("mining")
        return redirect(f"{reverse('benchmark-distractors', args=[pk])}#jobs")
    page = distractors_page(benchmark)
    if page["rows"]:
        mark_benchmark_seen(request.user, benchmark)
    table = distractor_jobs_of_benchmark(benchmark)
    template = "annotation/benchmarks/distractors.html"
    return render_form(request, template, form, benchmark=benchmark, page=page, table=table)


@require_role(Role.ADMIN, GET)
def distractor_jobs(request: HttpRequest, pk: int) -> HttpResponse:
    return render_job_table(request, distractor_jobs_of_benchmark(visible_benchmark(request, pk)))


@require_role(Role.ADMIN, FORM)
def similarity(request: HttpRequest, pk: int) -> HttpResponse:
    """POST orders labels by code similarity, and a benchmark under them."""
    benchmark = visible_benchmark(request, pk)
    form = SimilarityForm(request.POST if request.method == "POST" else None)
    if form.is_valid() and form.order(benchmark, person(request)):
        wake_workers("mining")
        return redirect(f"{reverse('benchmark-similarity', args=[pk])}#jobs")
    page, table = similarity_page(benchmark), similarity_jobs_of_benchmark(benchmark)
    template = "annotation/benchmarks/similarity.html"
    return render_form(request, template, form, benchmark=benchmark, page=page, table=table)


@require_role(Role.ADMIN, GET)
def similarity_jobs(request: HttpRequest, pk: int) -> HttpResponse:
    return render_job_table(request, similarity_jobs_of_benchmark(visible_benchmark(request, pk)))


@require_role(Role.ADMIN, FORM)
def exports_of(request: HttpRequest, pk: int) -> HttpResponse:
    benchmark = visible_benchmark(request, pk)
    form = exports.ExportForm(request.POST or None, benchmark=benchmark)
    if form.is_valid() and form.job(benchmark, person(request)):
        messages.success(request, "A worker writes the export; its progress is below.")
        return redirect("benchmark-exports", pk=benchmark.pk)
    return render_form(
        request,
        "annotation/benchmarks/exports.html",
        form,
        benchmark=benchmark,
        table=exports.export_jobs_of_benchmark(benchmark),
    )


@require_role(Role.ADMIN, GET)
def export_jobs(request: HttpRequest, pk: int) -> HttpResponse:
    return render_job_table(request, exports.export_jobs_of_benchmark(visible_benchmark(request, pk)))


@require_role(Role.ADMIN, GET)
def download(request: HttpRequest, pk: int, job_pk: int) -> HttpResponseBase:
    """The file, streamed."""
    benchmark = visible_benchmark(request, pk)
    done = Job.objects.about(Job.Kind.EXPORT, benchmark.pk).filter(state=Job.State.DONE)
    job = get_object_or_404(done, pk=job_pk)
    path = file_of(settings.COSQA_HOME, job)
    if not path.is_file():
        raise Http404(
            "The file was removed, or is on another machine. You can make it again on the exports page."
        )
    mark_benchmark_seen(request.user, benchmark)
    name = export_file_name(benchmark, ExportOrder.of(job))
    return FileResponse(path.open("rb"), as_attachment=True, filename=name)


def visible_benchmark(request: HttpRequest, pk: int) -> Benchmark:
    return get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
