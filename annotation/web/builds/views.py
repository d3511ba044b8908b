"""Watch a build, control it, see what it could not judge."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import slugify
from django.views.decorators.cache import cache_control
from django.views.decorators.http import condition

from annotation.accounts.roles import FORM, GET, Role, builds_visible_to, jobs_visible_to, require_role
from annotation.builds.control import pause_resume
from annotation.builds.control.pause_resume import Action, ControlRefused
from annotation.builds.drift.watched_pairs import has_shifted
from annotation.builds.results.progress import version_of
from annotation.derived.order_file import order_of_build, write_order_file
from annotation.models import Build, Case
from annotation.stages import Stage
from annotation.studies.exposure import mark_list_seen, mark_seen
from annotation.web.builds import page as pages
from annotation.web.builds.controls import describe_action_result
from annotation.web.cases.abandonment import abandoned_page
from annotation.web.cases.filters import list_told_cases
from annotation.web.cases.page import cases_number, cases_page, filters_of
from annotation.web.cases.row_counts import is_number_wanted, number_alone
from annotation.web.money.page import warn_of_short_cap
from annotation.web.shared.pagination import whole_number
from annotation.web.shared.requests import action_of, attach, say_refusals
from retrieval.texts.hostile import mark_hostile_characters


@require_role(Role.ADMIN, GET)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    return render(
        request, "annotation/builds/detail.html", {"page": pages.build_page(find_visible_build(request, pk))}
    )


def progress_etag(request: HttpRequest, pk: int) -> str | None:
    """The build's version as an entity tag."""
    version = version_of(jobs_visible_to(request.user), pk)
    return f'"{version}"' if version else None


@require_role(Role.ADMIN, GET)
@cache_control(private=True, no_store=True)
@condition(etag_func=progress_etag)
def progress(request: HttpRequest, pk: int) -> HttpResponse:
    page = pages.progress_page(find_visible_build(request, pk))
    return render(request, "annotation/builds/detail.html#progress", {"page": page})


@require_role(Role.ADMIN, GET)
def order_yaml(request: HttpRequest, pk: int) -> HttpResponse:
    """The order as a file that `cosqa build --config` takes; a job that writes functions has none."""
    build = find_visible_build(request, pk)
    if hasattr(build, "filling"):
        raise Http404("Functions are ordered on the page of their build.")
    text = write_order_file(order_of_build(build))
    name = slugify(build.name) or f"build-{build.pk}"
    return attach(HttpResponse(text, content_type="application/yaml; charset=utf-8"), f"{name}.yaml")


@require_role(Role.ADMIN, FORM)
def control(request: HttpRequest, pk: int) -> HttpResponse:
    """GET asks once more, POST does it."""
    build = find_visible_build(request, pk)
    action = action_of(request, Action)
    if request.method != "POST":
        why = action is Action.RESUME and has_shifted(build)
        context = {"build": build, "action": action, "must_say_why": why}
        return render(request, "annotation/builds/control.html", context)
    with say_refusals(request, ControlRefused):
        cause = mark_hostile_characters(request.POST["cause"]) if "cause" in request.POST else None
        note = request.POST.get("note", "").strip()
        warning = warn_of_short_cap(build) if action is Action.RESUME else ""
        touched = pause_resume.control_build(build, action, request.user, note, cause)
        if warning:
            messages.warning(request, warning)
        else:
            messages.success(request, describe_action_result(action, touched))
    return redirect("build", pk=build.pk)


@require_role(Role.ADMIN, GET)
def abandoned(request: HttpRequest, pk: int) -> HttpResponse:
    build = find_visible_build(request, pk)
    cases = Case.objects.filter(build=build)
    if not builds_visible_to(request.user).filter(pk=pk).exists():  # a rater's own pairs are in it
        cases = cases.filter(stage=Stage.ABANDONED)
    mark_list_seen(request.user, pk, cases)
    page = abandoned_page(build, max(0, whole_number(request.GET.get("after", ""))))
    return render(request, "annotation/builds/abandoned.html", {"page": page})


@require_role(Role.ADMIN, GET)
def cases(request: HttpRequest, pk: int) -> HttpResponse:
    """The cases behind a number; they show what agents decided."""
    build, reviewed = find_visible_build(request, pk), builds_visible_to(request.user)
    mark_list_seen(request.user, pk, list_told_cases(build, filters_of(request.GET)))
    if is_number_wanted(request):
        return number_alone(request, cases_number(build, reviewed, request.GET))
    page = cases_page(build, reviewed, request.GET)
    mark_seen(request.user, [case.pair_id for case in page["cases"]])
    return render(request, "annotation/builds/cases.html", {"page": page})


def find_visible_build(request: HttpRequest, pk: int) -> Build:
    """The build, if the person may know of it. Raises Http404."""
    return get_object_or_404(jobs_visible_to(request.user).select_related("tally"), pk=pk)
