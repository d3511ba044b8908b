"""The way in: what waits for experts and raters, data sets and leaderboards for readers."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotation.accounts.roles import (
    GET,
    Role,
    benchmarks_visible_to,
    blind_in,
    builds_visible_to,
    jobs_visible_to,
    require_role,
    role_of,
    unopened_in,
)
from annotation.models import Filling
from annotation.web.benchmarks.page import benchmarks_page
from annotation.web.shared.requests import person
from annotation.web.work.page import work_page

MOST_CARDS: Final = 6
"""So many of the newest data sets, and of the newest benchmarks, are on a reader's first page."""


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Where a person's work is; people without a role are told whom to ask."""
    role = role_of(request.user)
    if role is None:
        return render(request, "annotation/dashboard/no_role.html", status=403)
    if role == Role.ADMIN:
        return redirect("dashboard")
    return readers_home(request) if role == Role.READER else redirect("work")


def readers_home(request: HttpRequest) -> HttpResponse:
    """The newest data sets and leaderboards."""
    builds = (
        builds_visible_to(request.user).filter(opened=True).select_related("tally", "queries", "snippets")
    )
    page = {
        "builds": builds.order_by("-created_at", "-id")[:MOST_CARDS],
        "benchmarks": benchmarks_page(benchmarks_visible_to(request.user))[:MOST_CARDS],
    }
    return render(request, "annotation/work/reader.html", {"page": page})


@require_role(Role.EXPERT, GET)
def index(request: HttpRequest) -> HttpResponse:
    """What waits for an expert or rater, and all that they take part in."""
    builds = builds_visible_to(request.user, opens=False)
    fillings = Filling.objects.filter(build__in=jobs_visible_to(request.user, opens=False))
    context = {
        "page": work_page(person(request), builds, fillings, request.GET),
        "blind": blind_in(request.user),
        "unopened": unopened_in(request.user),
    }
    return render(request, "annotation/work/index.html", context)


@require_role(Role.EXPERT, GET)
def to_section(request: HttpRequest, section: str) -> HttpResponse:
    """From the address of a list that had a page of its own."""
    return redirect(f"{reverse('work')}#{section}")
