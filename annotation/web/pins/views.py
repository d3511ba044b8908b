"""Pinned figures: take a pin, list them, read one, take it home."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation.accounts.roles import GET, POST, Role, benchmarks_visible_to, builds_visible_to, require_role
from annotation.models import Case, Study
from annotation.pins import (
    Errors,
    NothingToPin,
    pin_build,
    pin_comparison,
    pin_leaderboard,
    pin_mining,
    pin_study,
    pin_two_builds,
)
from annotation.studies.exposure import mark_counts_seen
from annotation.studies.report.figures import NoFigures, refuse_to_raters
from annotation.web.benchmarks.leaderboard_notes import chosen_errors, error_choices
from annotation.web.benchmarks.page import matches_of
from annotation.web.corpus.page import Of
from annotation.web.corpus.pins import pin_corpus
from annotation.web.pins import reproduction
from annotation.web.pins.page import filter_visible_pins, find_revealing_queries, pin_page
from annotation.web.shared.jobs import render_job_table
from annotation.web.shared.pagination import whole_number
from annotation.web.shared.requests import attach, person
from retrieval.models import Collection, Pin, Pool


@require_role(Role.READER, GET)
def index(request: HttpRequest) -> HttpResponse:
    """The list is a part of the reports."""
    return redirect(f"{reverse('reports')}#pins")


@require_role(Role.READER, GET)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    pin = seen_by(request, pk)
    note_pin_seen(request, pin)
    context = {
        "page": pin_page(pin),
        "starts": reproduction.list_reproduction_starts(pin),
        "table": reproduction.reproduce_jobs_of_pin(pin),
    }
    return render(request, "annotation/pins/detail.html", context)


@require_role(Role.EXPERT, POST)
def compute_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Have a worker compute the pin again, from `start` on."""
    why = reproduction.order_reproduction(
        seen_by(request, pk), request.POST.get("start", ""), person(request)
    )
    if why:
        messages.info(request, why)
    return redirect(f"{reverse('pin', args=[pk])}#h-again")


@require_role(Role.READER, GET)
def again_jobs(request: HttpRequest, pk: int) -> HttpResponse:
    return render_job_table(request, reproduction.reproduce_jobs_of_pin(seen_by(request, pk)))


@require_role(Role.READER, GET)
def download(request: HttpRequest, pk: int) -> HttpResponse:
    """The whole pin as JSON."""
    pin = seen_by(request, pk)
    note_pin_seen(request, pin)
    told = {
        "pin": pin.digest,
        "kind": pin.kind,
        "title": pin.title,
        "pinned_at": pin.created_at,
        "subject": pin.subject,
        "ground": pin.ground,
        "value": pin.value,
    }
    return attach(JsonResponse(told, json_dumps_params={"indent": 1}), f"pin-{pin.name}.json")


@require_role(Role.EXPERT, POST)
def take_benchmark(request: HttpRequest, pk: int) -> HttpResponse:
    """Pin the leaderboard that the form was sent from: `metric`, `found`, `pool` and `errors` as in
    its address.
    """
    benchmark = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    pool = request.POST.get("pool", "")
    _, _, fewest, most = matches_of(request.POST.get("found", ""))
    written = request.POST.get("errors", "")
    errors = chosen_errors(error_choices(benchmark, request.user, written), written)
    options = pool if pool in Pool.values else "", request.POST.get("metric", ""), fewest, most
    taken_errors = Errors(errors.rates, errors.study)
    back = reverse("benchmark", args=[pk])
    return take(request, back, lambda by: pin_leaderboard(benchmark, *options, by, taken_errors))


@require_role(Role.EXPERT, POST)
def take_comparison(request: HttpRequest, pk: int) -> HttpResponse:
    """Pin the comparison with the version that `with` names, by `metric`, as the page has them."""
    visible = benchmarks_visible_to(request.user)
    second = get_object_or_404(visible, pk=pk)
    first = get_object_or_404(visible, pk=whole_number(request.POST.get("with", "")))
    metric = request.POST.get("metric", "")
    back = reverse("benchmark-compare", args=[pk])
    return take(request, back, lambda by: pin_comparison(first, second, metric, by, wait=False))


@require_role(Role.EXPERT, POST)
def take_study(request: HttpRequest, pk: int) -> HttpResponse:
    """Pin all figures of a study as they are now."""
    study = get_object_or_404(Study, pk=pk)

    def pin(by: User | None) -> Pin:
        refuse_to_raters(request.user, study)
        return pin_study(study, by)

    return take(request, reverse("study-figures", args=[pk]), pin)


@require_role(Role.ADMIN, POST)
def take_build(request: HttpRequest, pk: int) -> HttpResponse:
    """Pin a build's own figures, once it is over."""
    build = get_object_or_404(builds_visible_to(request.user).select_related("tally", "annotator"), pk=pk)
    return take(request, reverse("build", args=[pk]), lambda by: pin_build(build, by))


@require_role(Role.ADMIN, POST)
def take_mining(request: HttpRequest, pk: int) -> HttpResponse:
    """Pin what a build's page tells of its mining: matches found again, the recall of an index."""
    visible = builds_visible_to(request.user).select_related("mining__queries", "mining__snippets")
    build = get_object_or_404(visible, pk=pk, mining__isnull=False)
    return take(request, reverse("build", args=[pk]), lambda by: pin_mining(build.own_mining, by))


@require_role(Role.EXPERT, POST)
def take_two_builds(request: HttpRequest) -> HttpResponse:
    """Pin the comparison of the builds `first` and `second`, as the page shows it."""
    visible = builds_visible_to(request.user).select_related("tally", "annotator")
    first, second = (
        get_object_or_404(visible, pk=whole_number(request.POST.get(name, "")))
        for name in ("first", "second")
    )
    back = f"{reverse('compare')}?{urlencode({'first': first.pk, 'second': second.pk})}"
    return take(request, back, lambda by: pin_two_builds(first, second, by))


@require_role(Role.EXPERT, POST)
def take_build_corpus(request: HttpRequest, build_pk: int) -> HttpResponse:
    """Pin the corpus statistics of a build."""
    visible = builds_visible_to(request.user).select_related("mining", "tally")
    return take_corpus(request, "build", get_object_or_404(visible, pk=build_pk))


@require_role(Role.EXPERT, POST)
def take_benchmark_corpus(request: HttpRequest, pk: int) -> HttpResponse:
    """Pin the corpus statistics of a benchmark."""
    return take_corpus(request, "benchmark", get_object_or_404(benchmarks_visible_to(request.user), pk=pk))


@require_role(Role.ADMIN, POST)
def take_collection_corpus(request: HttpRequest, pk: int) -> HttpResponse:
    """Pin the corpus statistics of a collection."""
    return take_corpus(request, "collection", get_object_or_404(Collection, pk=pk))


def take_corpus(request: HttpRequest, of: str, what: Of) -> HttpResponse:
    return take(request, reverse(f"{of}-corpus", args=[what.pk]), lambda by: pin_corpus(of, what, by))


def take(request: HttpRequest, back: str, pin: Callable[[User | None], Pin]) -> HttpResponse:
    """Take a pin and show it; where there is nothing to pin, `back` says why."""
    try:
        taken = pin(request.user if isinstance(request.user, User) else None)
    except (NoFigures, NothingToPin) as why:
        messages.error(request, str(why))
        return redirect(back)
    messages.success(
        request, f"Pinned as {taken.name}. Cite it, and anybody can compute these figures again."
    )
    return redirect("pin", pk=taken.pk)


def note_pin_seen(request: HttpRequest, pin: Pin) -> None:
    """Remember what the figures of a pin tell of each pair of a query."""
    if queries := find_revealing_queries(pin):
        second = pin.subject["builds"][1]["id"]
        mark_counts_seen(request.user, Case.objects.filter(build=second), queries)


def seen_by(request: HttpRequest, pk: int) -> Pin:
    """Raises Http404, also where what is pinned is closed to the person."""
    found = filter_visible_pins(request.user, Pin.objects.select_related("created_by").filter(pk=pk))
    if not found:
        raise Http404("There is no such pin.")
    return found[0]
