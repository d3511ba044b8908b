"""Pinned figures: take a pin, list them, read one, take it home."""

from __future__ import annotations

from typing import cast
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.access import Role, benchmarks_visible_to, builds_visible_to, needs
from annotation.models import Case, Study
from annotation.pages import pins as pages
from annotation.pages import pins_again
from annotation.pages.benchmarks import matches_of
from annotation.pages.board import chosen_errors, error_choices
from annotation.pages.corpus import Of
from annotation.pages.corpus_pins import pin_corpus
from annotation.pages.paging import whole_number
from annotation.pinning import (
    Errors,
    NothingToPin,
    pin_build,
    pin_comparison,
    pin_leaderboard,
    pin_mining,
    pin_study,
    pin_two_builds,
)
from annotation.seen import mark_counts_seen
from annotation.studies.figures import NoFigures, refuse_to_raters
from retrieval.models import Collection, Pin, Pool


@require_safe
@needs(Role.READER)
def index(request: HttpRequest) -> HttpResponse:
    return render(request, "annotation/pins.html", {"pins": pages.pins_page(request.user)})


@require_safe
@needs(Role.READER)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    page = pages.pin_page(seen_by(request, pk))
    note_seen(request, page.pin)
    return render(request, "annotation/pin.html", {"page": page, "again": pins_again.again(page.pin)})


@require_POST
@needs(Role.EXPERT)
def compute_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Have a worker compute the pin again, from `start` on."""
    why = pins_again.order(seen_by(request, pk), request.POST.get("start", ""), cast(User, request.user))
    if why:
        messages.info(request, why)
    return redirect(f"{reverse('pin', args=[pk])}#h-again")


@require_safe
@needs(Role.READER)
def again_jobs(request: HttpRequest, pk: int) -> HttpResponse:
    context = {"again": pins_again.again(seen_by(request, pk))}
    return render(request, "annotation/_pin_again.html", context)


@require_safe
@needs(Role.READER)
def download(request: HttpRequest, pk: int) -> HttpResponse:
    """The whole pin as JSON."""
    pin = seen_by(request, pk)
    note_seen(request, pin)
    told = {
        "pin": pin.digest,
        "kind": pin.kind,
        "title": pin.title,
        "pinned_at": pin.created_at,
        "subject": pin.subject,
        "ground": pin.ground,
        "value": pin.value,
    }
    response = JsonResponse(told, json_dumps_params={"indent": 1})
    response["Content-Disposition"] = f'attachment; filename="pin-{pin.name}.json"'
    return response


@require_POST
@needs(Role.EXPERT)
def take_benchmark(request: HttpRequest, pk: int) -> HttpResponse:
    """Pin the leaderboard that the form was sent from: `metric`, `found`, `pool` and `errors` as in
    its address.
    """
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    pool = request.POST.get("pool", "")
    _, _, fewest, most = matches_of(request.POST.get("found", ""))
    written = request.POST.get("errors", "")
    errors = chosen_errors(error_choices(benchmark, request.user, written), written)
    try:
        pin = pin_leaderboard(
            benchmark,
            pool if pool in Pool.values else "",
            request.POST.get("metric", ""),
            fewest,
            most,
            pages.author(request.user),
            Errors(errors.rates, errors.study),
        )
    except NothingToPin as why:
        messages.error(request, str(why))
        return redirect("benchmark", pk=pk)
    return taken(request, pin)


@require_POST
@needs(Role.EXPERT)
def take_comparison(request: HttpRequest, pk: int) -> HttpResponse:
    """Pin the comparison with the version that `with` names, by `metric`, as the page has them."""
    visible = benchmarks_visible_to(request.user)
    second = get_object_or_404(visible, pk=pk)
    first = get_object_or_404(visible, pk=whole_number(request.POST.get("with", "")))
    metric = request.POST.get("metric", "")
    try:
        pin = pin_comparison(first, second, metric, pages.author(request.user), wait=False)
    except NothingToPin as why:
        messages.error(request, str(why))
        return redirect("benchmark-compare", pk=pk)
    return taken(request, pin)


@require_POST
@needs(Role.EXPERT)
def take_study(request: HttpRequest, pk: int) -> HttpResponse:
    """Pin all figures of a study as they are now."""
    study = get_object_or_404(Study, pk=pk)
    try:
        refuse_to_raters(request.user, study)
        pin = pin_study(study, pages.author(request.user))
    except (NoFigures, NothingToPin) as why:
        messages.error(request, str(why))
        return redirect("study-figures", pk=pk)
    return taken(request, pin)


@require_POST
@needs(Role.ADMIN)
def take_build(request: HttpRequest, pk: int) -> HttpResponse:
    """Pin a build's own figures, once it is over."""
    build = get_object_or_404(builds_visible_to(request.user).select_related("tally", "annotator"), pk=pk)
    try:
        pin = pin_build(build, pages.author(request.user))
    except NothingToPin as why:
        messages.error(request, str(why))
        return redirect("build", pk=pk)
    return taken(request, pin)


@require_POST
@needs(Role.ADMIN)
def take_mining(request: HttpRequest, pk: int) -> HttpResponse:
    """Pin what a build's page tells of its mining: matches found again, the recall of an index."""
    visible = builds_visible_to(request.user).select_related("mining__queries", "mining__snippets")
    build = get_object_or_404(visible, pk=pk, mining__isnull=False)
    try:
        pin = pin_mining(build.own_mining, pages.author(request.user))
    except NothingToPin as why:
        messages.error(request, str(why))
        return redirect("build", pk=pk)
    return taken(request, pin)


@require_POST
@needs(Role.EXPERT)
def take_two_builds(request: HttpRequest) -> HttpResponse:
    """Pin the comparison of the builds `first` and `second`, as the page shows it."""
    visible = builds_visible_to(request.user).select_related("tally", "annotator")
    first, second = (
        get_object_or_404(visible, pk=whole_number(request.POST.get(name, "")))
        for name in ("first", "second")
    )
    try:
        pin = pin_two_builds(first, second, pages.author(request.user))
    except NothingToPin as why:
        messages.error(request, str(why))
        return redirect(f"{reverse('compare')}?{urlencode({'first': first.pk, 'second': second.pk})}")
    return taken(request, pin)


@require_POST
@needs(Role.EXPERT)
def take_build_corpus(request: HttpRequest, build_pk: int) -> HttpResponse:
    """Pin the corpus statistics of a build."""
    visible = builds_visible_to(request.user).select_related("mining", "tally")
    return take_corpus(request, "build", get_object_or_404(visible, pk=build_pk))


@require_POST
@needs(Role.EXPERT)
def take_benchmark_corpus(request: HttpRequest, pk: int) -> HttpResponse:
    """Pin the corpus statistics of a benchmark."""
    return take_corpus(request, "benchmark", get_object_or_404(benchmarks_visible_to(request.user), pk=pk))


@require_POST
@needs(Role.ADMIN)
def take_collection_corpus(request: HttpRequest, pk: int) -> HttpResponse:
    """Pin the corpus statistics of a collection."""
    return take_corpus(request, "collection", get_object_or_404(Collection, pk=pk))


def take_corpus(request: HttpRequest, of: str, what: Of) -> HttpResponse:
    try:
        pin = pin_corpus(of, what, pages.author(request.user))
    except NothingToPin as why:
        messages.error(request, str(why))
        return redirect(f"{of}-corpus", what.pk)
    return taken(request, pin)


def taken(request: HttpRequest, pin: Pin) -> HttpResponse:
    messages.success(request, f"Pinned as {pin.name}: cite it, and anybody can compute these figures again.")
    return redirect("pin", pk=pin.pk)


def note_seen(request: HttpRequest, pin: Pin) -> None:
    """Remember what the figures of a pin tell of each pair of a query."""
    if queries := pages.told(pin):
        second = pin.subject["builds"][1]["id"]
        mark_counts_seen(request.user, Case.objects.filter(build=second), queries)


def seen_by(request: HttpRequest, pk: int) -> Pin:
    """Raises Http404, also where what is pinned is closed to the person."""
    found = pages.visible(request.user, Pin.objects.select_related("created_by").filter(pk=pk))
    if not found:
        raise Http404("There is no such pin.")
    return found[0]
