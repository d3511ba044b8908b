"""Launch a build, watch it, control it, see what it could not judge."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import condition, require_http_methods, require_safe

from annotation import launching, several, steering
from annotation import progress as progress_of
from annotation.access import Role, builds_visible_to, jobs_visible_to, needs
from annotation.drift.watching import has_shifted
from annotation.estimating import confirming
from annotation.estimating.making import estimate
from annotation.launching import LaunchRefused, Order
from annotation.models import Build
from annotation.pages import builds as pages
from annotation.pages import estimates
from annotation.pages.abandoned import abandoned_page
from annotation.pages.cases import cases_number, cases_page
from annotation.pages.ordering import LaunchForm
from annotation.pages.paging import whole_number
from annotation.seen import mark_seen
from annotation.several import Who
from annotation.steering import Action, ControlRefused
from annotation.tools import counter
from annotation.views.counting import is_number_wanted, number_alone
from retrieval import known_encoders
from retrieval.hostile import clean


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def new(request: HttpRequest) -> HttpResponse:
    """The form; what is paid is estimated first, and launched once the estimate is confirmed."""
    form = LaunchForm(request.POST or None, initial=picked(request.GET.get("given", "")))
    if form.is_valid() and request.POST.get("step") != "change":
        try:
            return ordered(request, form)
        except LaunchRefused as why:
            form.add_error(None, str(why))
    choices, ticked = known_encoders.to_choose(), form["encoders"].value()
    unready = sum(bool(one.missing) and one.name not in ticked for one in choices)
    context = {"form": form, "encoders": choices, "unready": unready}
    return render(request, "annotation/build_new.html", context, status=422 if form.errors else 200)


def picked(given: str) -> dict[str, Any]:
    """What a link to the form has chosen of it: given pairs, and the boxes that are usual."""
    return {"given": given} if given else {}


def ordered(request: HttpRequest, form: LaunchForm) -> HttpResponse:
    """The launched build, or the page that asks whether its estimate will do. Raises LaunchRefused.

    Several annotators of given pairs have a build each, and are estimated together.
    """
    who, order = form.who, form.order()
    orders = several.orders_of(order, who)
    if order.provider != Build.Provider.LIVE:
        return launched(request, order, who, [launching.launch(one, request.user) for one in orders])
    for one in orders:
        launching.refuse_bad(one)
    words = request.POST.getlist("estimate")
    notice = ""
    if request.POST.get("step") == "launch":
        told = [*words, *[""] * len(orders)][: len(orders)]
        pairs = list(zip(orders, told, strict=True))
        notice = next(filter(None, (confirming.why_stale(one, word) for one, word in pairs)), "")
        if not notice:
            builds = [confirming.launch(one, request.user, word) for one, word in pairs]
            return launched(request, order, who, builds)
    found = [(one, estimate(one, counter(one.provider, one.model))) for one in orders]
    pages = [estimates.estimate_page(*one, notice) for one in found]
    context = {"page": pages[0], "more": pages[1:], "form": form}
    return render(request, "annotation/build_estimate.html", context)


def launched(request: HttpRequest, order: Order, who: Who, builds: list[Build]) -> HttpResponse:
    """To the build, or of several to their audit; what experts are to judge is queued first."""
    if who.experts:
        builds = [*builds, several.queue(order, who, request.user)]
    if who.several:
        messages.success(request, f"Launched: {', '.join(build.name for build in builds)}.")
        return redirect("build-audit", pk=builds[0].pk)
    return redirect("build", pk=builds[0].pk)


@require_safe
@needs(Role.ADMIN)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    return render(request, "annotation/build.html", {"page": pages.build_page(visible(request, pk))})


def progress_etag(request: HttpRequest, pk: int) -> str | None:
    """The build's version as an entity tag."""
    version = progress_of.version_of(jobs_visible_to(request.user), pk)
    return f'"{version}"' if version else None


@require_safe
@needs(Role.ADMIN)
@cache_control(private=True, no_cache=True)
@condition(etag_func=progress_etag)
def progress(request: HttpRequest, pk: int) -> HttpResponse:
    page = pages.progress_page(visible(request, pk))
    return render(request, "annotation/build.html#progress", {"page": page})


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def control(request: HttpRequest, pk: int) -> HttpResponse:
    """GET asks once more, POST does it."""
    build = visible(request, pk)
    action = action_of(request)
    if request.method != "POST":
        why = action is Action.RESUME and has_shifted(build)
        context = {"build": build, "action": action, "must_say_why": why}
        return render(request, "annotation/build_control.html", context)
    try:
        cause = clean(request.POST["cause"]) if "cause" in request.POST else None
        note = request.POST.get("note", "").strip()
        touched = steering.control(build, action, request.user, note, cause)
    except ControlRefused as why:
        messages.error(request, str(why))
    else:
        messages.success(request, pages.done(action, touched))
    return redirect("build", pk=build.pk)


@require_safe
@needs(Role.ADMIN)
def abandoned(request: HttpRequest, pk: int) -> HttpResponse:
    page = abandoned_page(visible(request, pk), cursor(request))
    mark_seen(request.user, [case.pair_id for case in page.cases])
    return render(request, "annotation/build_abandoned.html", {"page": page})


@require_safe
@needs(Role.ADMIN)
def cases(request: HttpRequest, pk: int) -> HttpResponse:
    """The cases behind a number; they show what agents decided."""
    build, reviewed = visible(request, pk), builds_visible_to(request.user)
    if is_number_wanted(request):
        return number_alone(request, cases_number(build, reviewed, request.GET))
    page = cases_page(build, reviewed, request.GET)
    mark_seen(request.user, page.pairs)
    return render(request, "annotation/build_cases.html", {"page": page})


def visible(request: HttpRequest, pk: int) -> Build:
    """The build, if the person may know of it. Raises Http404."""
    return get_object_or_404(jobs_visible_to(request.user).select_related("tally"), pk=pk)


def action_of(request: HttpRequest) -> Action:
    """The action that the form or link names. Raises BadRequest."""
    given = request.POST.get("action") or request.GET.get("action", "")
    try:
        return Action(given)
    except ValueError as error:
        raise BadRequest(f"No such action: {given!r}; choose from {', '.join(Action)}.") from error


def cursor(request: HttpRequest) -> int:
    """The `after` of a list; anything that is no number is the beginning."""
    after = request.GET.get("after", "")
    return max(0, whole_number(after))
