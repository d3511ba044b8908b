"""The way in: what waits for experts and raters, data sets and leaderboards for readers."""

from __future__ import annotations

from typing import Final

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from annotation.accounts.roles import (
    Role,
    benchmarks_visible_to,
    blind_in,
    builds_visible_to,
    jobs_visible_to,
    role_of,
)
from annotation.models import Filling
from annotation.web.benchmarks.page import benchmarks_page
from annotation.web.work.page import list_work_cards

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
    return readers_home(request) if role == Role.READER else your_work(request)


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


def your_work(request: HttpRequest) -> HttpResponse:
    """The cards of an expert."""
    assert isinstance(request.user, User), "whoever has a role has an account"
    fillings = Filling.objects.filter(build__in=jobs_visible_to(request.user))
    cards = list_work_cards(request.user, builds_visible_to(request.user), fillings)
    context = {"cards": cards, "blind": blind_in(request.user)}
    return render(request, "annotation/work/index.html", context)
