"""Pins: figures that were kept with all that is needed to compute them again."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation import pinning
from annotation.access import Role, benchmarks_visible_to, needs
from annotation.models import Study
from annotation.pages import pins as pages
from annotation.pages.paging import whole_number
from annotation.studies.figures import NoFigures, refuse_to_raters
from retrieval.evaluation.leaderboard import Queries
from retrieval.evaluation.pinned import NotPinned
from retrieval.models import Pin


@require_safe
@needs(Role.READER)
def index(request: HttpRequest) -> HttpResponse:
    return render(request, "annotation/pins.html", {"pins": pages.pins_page(request.user)})


@require_safe
@needs(Role.READER)
def detail(request: HttpRequest, name: str) -> HttpResponse:
    try:
        pin = pinning.named(name)
    except pinning.NoSuchPin as why:
        raise Http404(str(why)) from why
    if not pinning.may_see(request.user, pin):
        raise Http404("This pin is closed to you.")
    return render(request, "annotation/pin.html", {"page": pages.pin_page(pin)})


@require_POST
@needs(Role.ADMIN)
def pin_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Pin one figure of a leaderboard: `run`, `metric`, and `fewest` and `most` matches."""
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    run = get_object_or_404(benchmark.runs.all(), pk=whole_number(request.POST.get("run", "")))
    found = pages.matches_of(request.POST.get("found", ""))
    try:
        pin = pinning.pin_run(run, request.POST.get("metric", ""), Queries(*found), request.user)
    except NotPinned as why:
        messages.error(request, str(why))
        return redirect("benchmark", pk=pk)
    return to(pin)


@require_POST
@needs(Role.ADMIN)
def pin_study(request: HttpRequest, pk: int) -> HttpResponse:
    """Pin one cell of a study's tables: `cell` is table, row and column with a line between each two."""
    study = get_object_or_404(Study, pk=pk)
    table, _, rest = request.POST.get("cell", "").partition("\n")
    row, _, column = rest.partition("\n")
    try:
        refuse_to_raters(request.user, study)
        pin = pinning.pin_study(study, table.strip(), row.strip(), column.strip(), request.user)
    except (NotPinned, NoFigures) as why:
        messages.error(request, str(why))
        return redirect("study-figures", pk=pk)
    return to(pin)


def to(pin: Pin) -> HttpResponse:
    return redirect("pin", name=pin.name)
