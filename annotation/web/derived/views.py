"""Builds made of builds: extend one, run cases again, fill the holes of a run; each shows its price first."""

from __future__ import annotations

from typing import Final

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from annotation.accounts.roles import (
    FORM,
    GET,
    POST,
    Role,
    benchmarks_visible_to,
    builds_visible_to,
    require_role,
)
from annotation.builds.control import spending_caps
from annotation.builds.control.pause_resume import ControlRefused
from annotation.builds.results.publication import PublishRefused
from annotation.derived.derivation import Decision
from annotation.derived.extension import execution
from annotation.derived.publish_job import benchmark_published_by
from annotation.derived.unjudged_results import queue_holes_for_experts
from annotation.models import Build, Case, Extension
from annotation.studies.exposure import mark_list_seen
from annotation.web.builds.views import find_visible_build
from annotation.web.derived.extension import ExtendPage, extend_page
from annotation.web.derived.offer import launch_offer, render_derived
from annotation.web.derived.rerun import again_page, pick_rerun_cases
from annotation.web.derived.unjudged_results import (
    HolesPage,
    holes_page,
    order_hole_publication,
    publish_jobs_of_holes,
)
from annotation.web.shared.jobs import render_job_table
from annotation.web.shared.pagination import whole_number
from annotation.web.shared.requests import person, say_refusals
from retrieval.evaluation.holes import NoHoles
from retrieval.texts.plurals import count_noun

HOLES: Final = "annotation/derived/benchmark_holes.html"


@require_role(Role.ADMIN, FORM)
def extend(request: HttpRequest, pk: int) -> HttpResponse:
    """GET shows what a wish would take; POST does it, or takes back what is mined."""
    build, template = find_visible_build(request, pk), "annotation/derived/build_extend.html"
    if request.method != "POST":
        return render_derived(request, template, extend_page(build, request.GET or None))
    if request.POST.get("do") == "cancel":
        with say_refusals(request, ControlRefused):
            execution.cancel_extension(build, request.user, request.POST.get("note", "").strip())
            messages.success(request, "Undone: the build is as it was.")
        return redirect("build", pk=build.pk)
    page = extend_page(build, request.POST, request.POST)
    made = launch_offer(request, page, lambda decision: extend_with_cap(page, decision))
    if made is None:
        return render_derived(request, template, page)
    messages.success(request, f"Extension {made.number} is mined now; its new pairs follow.")
    return redirect("build", pk=build.pk)


def extend_with_cap(page: ExtendPage, decision: Decision) -> Extension:
    """The extension, and the cap beside it where another one was typed: both, or neither."""
    assert page.offer is not None, "as launch_offer found it"
    budget = page.decision.cleaned_data["budget"]
    with transaction.atomic():
        made = page.offer.plan.launch(decision)
        if page.decision.has_changed() and spending_caps.convert_cap_to_nanodollars(budget) != page.cap.cap:
            spending_caps.change_cap(page.build, budget, decision.user, decision.reason)
    return made


@require_role(Role.ADMIN, FORM)
def again(request: HttpRequest, pk: int) -> HttpResponse:
    """GET shows which cases are meant and what they would take; POST launches the new build."""
    build, params = find_visible_build(request, pk), request.POST if request.method == "POST" else request.GET
    found = pick_rerun_cases(build, builds_visible_to(request.user), params)
    mark_list_seen(request.user, pk, Case.objects.filter(build=pk))  # the page says how many can begin where
    page = again_page(build, found, params, request.POST if request.method == "POST" else None)
    if page.offer and (made := launch_offer(request, page)):
        cases = count_noun(page.offer.plan.able, "case is", "cases are")
        messages.success(request, f"{cases} run again.")
        return redirect("build", pk=made.pk)
    return render_derived(request, "annotation/derived/build_again.html", page)


@require_role(Role.ADMIN, FORM)
def fill(request: HttpRequest, pk: int) -> HttpResponse:
    """GET shows how many pairs are meant and what they would take; POST launches the build."""
    page = page_of(request, pk)
    if page.offer and request.method == "POST" and (build := launch_offer(request, page)):
        messages.success(request, unjudged(page.offer.plan.pairs, "is judged", "are judged"))
        return redirect("build", pk=build.pk)
    return render_derived(request, HOLES, page, table=page.jobs)


def page_of(request: HttpRequest, pk: int) -> HolesPage:
    """The page of what was sent, or of what the address says."""
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    builds, sent = builds_visible_to(request.user), request.POST if request.method == "POST" else None
    return holes_page(benchmark, builds, request.GET if sent is None else sent, sent)


def unjudged(number: int, one: str, several: str) -> str:
    """What becomes of so many results, in a sentence."""
    return f"{count_noun(number, 'unjudged result')} {one if number == 1 else several}."


@require_role(Role.ADMIN, POST)
def queue(request: HttpRequest, pk: int) -> HttpResponse:
    """Have experts judge the pairs: they wait in plain review, and a study can draw them."""
    page = page_of(request, pk)

    def queue_offer(decision: Decision) -> Build:
        return queue_holes_for_experts(page.form.fill(), decision.user, decision.reason)

    build = launch_offer(request, page, queue_offer, is_free=True)
    if page.offer and build:
        told = unjudged(page.offer.plan.pairs, "waits for experts", "wait for experts")
        messages.success(request, told)
        return redirect("build", pk=build.pk)
    return render_derived(request, HOLES, page, table=page.jobs)


@require_role(Role.ADMIN, POST)
def publish(request: HttpRequest, pk: int) -> HttpResponse:
    """Publish the next version of a benchmark with what `build` said of its holes; large ones wait."""
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    build = get_object_or_404(
        builds_visible_to(request.user),
        pk=whole_number(request.POST.get("build", "")),
        mining__holes__run__benchmark=benchmark,
    )
    try:
        job = order_hole_publication(build, person(request))
    except (NoHoles, PublishRefused) as why:
        messages.error(request, str(why))
        return redirect("benchmark-holes", pk=pk)
    made = benchmark_published_by(job)
    if made is None:
        if job.message:
            messages.error(request, job.message)
        return redirect(f"{reverse('benchmark-holes', args=[pk])}#jobs")
    messages.success(request, f"{made} is published. Compare the scores before and after here.")
    return redirect(f"{reverse('benchmark-compare', args=[made.pk])}?with={benchmark.pk}")


@require_role(Role.ADMIN, GET)
def unjudged_jobs(request: HttpRequest, pk: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    return render_job_table(request, publish_jobs_of_holes(benchmark, builds_visible_to(request.user)))
