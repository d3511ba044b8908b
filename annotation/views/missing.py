"""Queries of a build without a match: how many, what functions for them would cost, and the order."""

from __future__ import annotations

import json

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import tasks
from annotation.access import Role, builds_visible_to, needs
from annotation.estimating import confirming
from annotation.launching import LaunchRefused
from annotation.missing import ordering, written
from annotation.missing.orders import FillOrder
from annotation.models import Build, Case
from annotation.pages import missing as pages
from annotation.seen import mark_counts_seen, mark_seen
from annotation.steering import ControlRefused
from annotation.views.builds import visible as job


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def build_missing(request: HttpRequest, pk: int) -> HttpResponse:
    """The counts and the form; a POST shows the price of the order, or launches it."""
    build = get_object_or_404(visible(request), pk=pk)
    form, price = pages.FillForm(build, request.POST or None), None
    if form.is_valid():
        try:
            order = form.order()
            ordering.refuse_bad(order)
            price = pages.price_of(order)
            if request.POST.get("step") == "launch":
                return ordered(request, order)
        except LaunchRefused as why:
            form.add_error(None, str(why))
    page = pages.missing_page(build, price)
    note_seen(request, build, [text.pk for text in (*page.examples, *page.unjudged)])
    context = {"page": page, "form": form}
    return render(request, "annotation/build_missing.html", context, status=422 if form.errors else 200)


def ordered(request: HttpRequest, order: FillOrder) -> HttpResponse:
    """To the job that was launched, on the estimate that was on screen. Raises LaunchRefused."""
    word = request.POST.get("estimate", "")
    confirming.refuse_unshown(order.provider, word)
    made = ordering.launch(order, request.user, word)
    tasks.wake("llm")
    messages.success(request, "Ordered. Each function is written, tested, and then waits for an expert.")
    return redirect("build", pk=made.pk)


@require_POST
@needs(Role.ADMIN)
def write_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Have the functions written that could not be."""
    build = job(request, pk)
    try:
        count = ordering.write_again(build, request.user)
    except ControlRefused as why:
        messages.error(request, str(why))
    else:
        tasks.wake("llm")
        messages.success(request, f"{count:,} functions are written again.")
    return redirect("build", pk=build.pk)


@require_safe
@needs(Role.READER)
def export(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """The accepted functions of a build with their provenance, one JSON object a line."""
    build = get_object_or_404(visible(request), pk=pk)
    told = written.accepted(build).values_list("proposal__case__pair", "proposal__query")
    mark_seen(request.user, [pair for pair, _ in told if pair is not None])
    note_seen(request, build, [query for _, query in told])
    lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in written.exported(build))
    response = StreamingHttpResponse(lines, content_type="application/x-ndjson")
    response["Content-Disposition"] = f'attachment; filename="written-{build.pk}.jsonl"'
    return response


def note_seen(request: HttpRequest, build: Build, queries: list[int]) -> None:
    """That a query (id) has no match in the build tells each label of it."""
    mark_counts_seen(request.user, Case.objects.filter(build=build), queries)


def visible(request: HttpRequest) -> QuerySet[Build]:
    return builds_visible_to(request.user).select_related("tally", "queries", "snippets", "annotator")
