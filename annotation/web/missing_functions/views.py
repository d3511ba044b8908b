"""Queries of a build without a match: how many, what functions for them would cost, and the order."""

from __future__ import annotations

import json

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect

from annotation.accounts.roles import FORM, GET, POST, Role, builds_visible_to, require_role
from annotation.builds.control.pause_resume import ControlRefused
from annotation.derived.missing_functions import launch
from annotation.derived.missing_functions.accepted_functions import (
    accepted_decisions_of_build,
    export_accepted_functions,
)
from annotation.jobs.wake_up import wake_workers
from annotation.models import Build, Case
from annotation.studies.exposure import mark_counts_seen, mark_list_seen, mark_seen
from annotation.web.builds.views import find_visible_build
from annotation.web.derived.offer import launch_offer, render_derived
from annotation.web.missing_functions.page import missing_page
from annotation.web.shared.requests import attach, say_refusals


@require_role(Role.ADMIN, FORM)
def build_missing(request: HttpRequest, pk: int) -> HttpResponse:
    """GET shows the counts and what an order would take; POST launches it."""
    build = get_object_or_404(visible(request), pk=pk)
    sent = request.POST if request.method == "POST" else None
    page = missing_page(build, request.GET if sent is None else sent, sent)
    if sent is not None and (made := launch_offer(request, page)):
        wake_workers("llm")
        messages.success(request, "Started. Each function is written, tested, and then waits for an expert.")
        return redirect("build", pk=made.pk)
    mark_list_seen(request.user, build.pk, Case.objects.filter(build=build, round=1))
    return render_derived(request, "annotation/missing_functions/build_missing.html", page)


@require_role(Role.ADMIN, POST)
def write_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Have the functions written that could not be."""
    build = find_visible_build(request, pk)
    with say_refusals(request, ControlRefused):
        count = launch.write_again(build, request.user)
        wake_workers("llm")
        messages.success(request, f"{count:,} functions are written again.")
    return redirect("build", pk=build.pk)


@require_role(Role.READER, GET)
def export(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """The accepted functions of a build with their provenance, one JSON object a line."""
    build = get_object_or_404(visible(request), pk=pk)
    told = accepted_decisions_of_build(build).values_list("proposal__case__pair", "proposal__query")
    mark_seen(request.user, [pair for pair, _ in told if pair is not None])
    # That a query has no match in the build tells each label of it.
    mark_counts_seen(request.user, Case.objects.filter(build=build), [query for _, query in told])
    lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in export_accepted_functions(build))
    response = StreamingHttpResponse(lines, content_type="application/x-ndjson")
    return attach(response, f"written-{build.pk}.jsonl")


def visible(request: HttpRequest) -> QuerySet[Build]:
    return builds_visible_to(request.user).select_related("tally", "queries", "snippets", "annotator")
