"""The admin's overview."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.accounts.roles import (
    GET,
    Role,
    blind_in,
    builds_visible_to,
    jobs_visible_to,
    require_role,
)
from annotation.web.dashboard.page import build_dashboard_page
from annotation.web.shared.requests import person
from annotation.web.work.page import find_mentions_card


@require_role(Role.ADMIN, GET)
def index(request: HttpRequest) -> HttpResponse:
    """The page, or for htmx the list of builds alone."""
    page = build_dashboard_page(jobs_visible_to(request.user))
    fragment = "#builds" if request.headers.get("HX-Request") else ""
    mentions = find_mentions_card(person(request), builds_visible_to(request.user))
    context = {"page": page, "blind": blind_in(request.user), "mentions": mentions}
    return render(request, f"annotation/dashboard/detail.html{fragment}", context)
