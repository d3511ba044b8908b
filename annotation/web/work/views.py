"""The way in: what waits for experts and raters; admins and readers have another first page."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from annotation.accounts.roles import Role, blind_in, builds_visible_to, jobs_visible_to, role_of
from annotation.models import Filling
from annotation.web.work.page import list_work_cards

START = {Role.ADMIN: "dashboard", Role.READER: "browse"}


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Where a person's work is; people without a role are told whom to ask."""
    role = role_of(request.user)
    if role is None:
        return render(request, "annotation/dashboard/no_role.html", status=403)
    if role in START:
        return redirect(START[role])
    return your_work(request)


def your_work(request: HttpRequest) -> HttpResponse:
    """The cards of an expert."""
    assert isinstance(request.user, User), "whoever has a role has an account"
    fillings = Filling.objects.filter(build__in=jobs_visible_to(request.user))
    cards = list_work_cards(request.user, builds_visible_to(request.user), fillings)
    context = {"cards": cards, "blind": blind_in(request.user)}
    return render(request, "annotation/work/index.html", context)
