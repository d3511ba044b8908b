"""The way in, and the admin's overview."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from annotation.accounts.roles import GET, Role, blind_in, jobs_visible_to, require_role, role_of
from annotation.web.dashboard.page import build_dashboard_page

START = {Role.ADMIN: "dashboard", Role.EXPERT: "review", Role.READER: "browse"}


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Where a person's work is; people without a role are told whom to ask."""
    role = role_of(request.user)
    if role is None:
        return render(request, "annotation/dashboard/no_role.html", status=403)
    return redirect(START[role])


@require_role(Role.ADMIN, GET)
def index(request: HttpRequest) -> HttpResponse:
    """The page, or for htmx the list of builds alone."""
    page = build_dashboard_page(jobs_visible_to(request.user))
    fragment = "#builds" if request.headers.get("HX-Request") else ""
    context = {"page": page, "blind": blind_in(request.user)}
    return render(request, f"annotation/dashboard/detail.html{fragment}", context)
