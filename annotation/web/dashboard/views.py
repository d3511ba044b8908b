"""The admin's overview."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.accounts.roles import GET, Role, blind_in, jobs_visible_to, require_role
from annotation.web.dashboard.page import build_dashboard_page


@require_role(Role.ADMIN, GET)
def index(request: HttpRequest) -> HttpResponse:
    """The page, or for htmx the list of builds alone."""
    page = build_dashboard_page(jobs_visible_to(request.user))
    fragment = "#builds" if request.headers.get("HX-Request") else ""
    context = {"page": page, "blind": blind_in(request.user)}
    return render(request, f"annotation/dashboard/detail.html{fragment}", context)
