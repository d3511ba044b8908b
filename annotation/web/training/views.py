"""Trainings on a benchmark's matches: order, watch, stop, continue."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation.accounts.roles import FORM, GET, POST, Role, benchmarks_visible_to, require_role
from annotation.jobs.wake_up import wake_workers
from annotation.web.builds.folds import build_fold
from annotation.web.shared.downloads import attach_table
from annotation.web.shared.jobs import render_job_table
from annotation.web.shared.pagination import whole_number
from annotation.web.shared.requests import answer, person, render_form
from annotation.web.training.form import FOLDED, TrainForm
from annotation.web.training.page import (
    list_recipes,
    train_jobs_of_benchmark,
    trained_page,
    trained_tables,
    training_page,
)
from retrieval.jobs import cancel_job
from retrieval.models import Benchmark, Job
from retrieval.models.jobs import JobQuerySet
from retrieval.training.training_job import continue_training


@require_role(Role.ADMIN, FORM)
def train(request: HttpRequest, pk: int) -> HttpResponse:
    """POST orders a training for each seed."""
    benchmark = visible_benchmark(request, pk)
    visible = benchmarks_visible_to(request.user)
    form = TrainForm(benchmark, visible, request.POST if request.method == "POST" else None)
    if form.is_valid() and form.order(person(request)):
        wake_workers("training")
        return redirect(f"{reverse('benchmark-train', args=[pk])}#jobs")
    return render_form(
        request,
        "annotation/training/new.html",
        form,
        benchmark=benchmark,
        recipes=list_recipes(),
        fold=build_fold(form, FOLDED),
        table=train_jobs_of_benchmark(benchmark),
    )


@require_role(Role.ADMIN, GET)
def train_jobs(request: HttpRequest, pk: int) -> HttpResponse:
    return render_job_table(request, train_jobs_of_benchmark(visible_benchmark(request, pk)))


@require_role(Role.ADMIN, GET)
def training(request: HttpRequest, pk: int, job_pk: int) -> HttpResponse:
    """One training; htmx asks for the part that changes."""
    benchmark = visible_benchmark(request, pk)
    job = get_object_or_404(trainings_of(benchmark).select_related("created_by"), pk=job_pk)
    page = training_page(benchmark, job)
    return answer(request, "annotation/training/detail.html", page, fragment="progress")


@require_role(Role.READER, GET)
def trained(request: HttpRequest, pk: int) -> HttpResponse:
    """Systems before and after training, by what they learned."""
    benchmark = visible_benchmark(request, pk)
    if "table" in request.GET:
        tables = trained_tables(benchmark, request.GET.get("pool", ""), request.GET.get("metric", ""))
        return attach_table(tables, request.GET, f"benchmark-{benchmark.pk}")
    return render(request, "annotation/training/trained.html", {"page": trained_page(benchmark, request.GET)})


@require_role(Role.ADMIN, POST)
def stop(request: HttpRequest, pk: int) -> HttpResponse:
    """Stop one; its checkpoints stay."""
    job = posted_job(request, pk)
    if job is None or not cancel_job(job):
        messages.error(request, "That training has already finished.")
    return to_training(pk, job)


@require_role(Role.ADMIN, POST)
def go_on(request: HttpRequest, pk: int) -> HttpResponse:
    """Continue one from its last checkpoint."""
    job = posted_job(request, pk)
    if job is None or not continue_training(job):
        messages.error(request, "That training can’t be continued: it is over, or the same one is waiting.")
    else:
        wake_workers("training")
    return to_training(pk, job)


def posted_job(request: HttpRequest, pk: int) -> Job | None:
    """The training that the form names."""
    rows = trainings_of(visible_benchmark(request, pk))
    return rows.filter(pk=whole_number(request.POST.get("job", ""))).first()


def to_training(pk: int, job: Job | None) -> HttpResponse:
    if job is None:
        return redirect(f"{reverse('benchmark-train', args=[pk])}#jobs")
    return redirect("benchmark-training", pk=pk, job_pk=job.pk)


def trainings_of(benchmark: Benchmark) -> JobQuerySet:
    return Job.objects.about(Job.Kind.TRAIN, benchmark.pk)


def visible_benchmark(request: HttpRequest, pk: int) -> Benchmark:
    """Raises Http404."""
    return get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
