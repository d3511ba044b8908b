"""The page of reports: it links to each, and lists the pins."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.accounts.roles import (
    GET,
    Role,
    benchmarks_visible_to,
    blind_in,
    builds_visible_to,
    require_role,
)
from annotation.web.benchmarks.page import benchmarks_page
from annotation.web.browse.page import builds_page
from annotation.web.pins.page import pins_page


@require_role(Role.READER, GET)
def index(request: HttpRequest) -> HttpResponse:
    page = {
        "builds": builds_page(builds_visible_to(request.user), request.GET),
        "benchmarks": benchmarks_page(benchmarks_visible_to(request.user)),
        "pins": pins_page(request.user),
    }
    return render(request, "annotation/reports/detail.html", {"page": page, "blind": blind_in(request.user)})
