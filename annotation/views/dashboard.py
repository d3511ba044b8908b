"""The way in, and the admin's overview."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from annotation.access import Role, blind_in, jobs_visible_to, needs, role_of
from annotation.pages import dashboard as pages

START = {Role.ADMIN: "dashboard", Role.EXPERT: "review", Role.READER: "browse"}


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Where a person's work is; people without a role are told whom to ask."""
    role = role_of(request.user)
    if role is None:
        return render(request, "annotation/no_role.html", status=403)
    return redirect(START[role])


@require_safe
@needs(Role.ADMIN)
def index(request: HttpRequest) -> HttpResponse:
    """The page, or for htmx the list of builds alone."""
    page = pages.dashboard(jobs_visible_to(request.user))
    fragment = "#builds" if request.headers.get("HX-Request") else ""
    context = {"page": page, "blind": blind_in(request.user)}
    return render(request, f"annotation/dashboard.html{fragment}", context)
