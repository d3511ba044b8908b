"""Test connection: what is asked is recorded, a worker asks it, the page shows what came of it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.accounts.roles import FORM, GET, Role, require_role
from annotation.builds.control.connection_test import TestRefused, request_connection_test
from annotation.jobs.wake_up import wake_workers
from annotation.models import ConnectionTest
from annotation.web.connection.page import ConnectionForm, connection_page, test_page
from annotation.web.shared.forms import attempt
from annotation.web.shared.requests import person, render_form


@require_role(Role.ADMIN, FORM)
def index(request: HttpRequest) -> HttpResponse:
    form = ConnectionForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        user, wanted = person(request), form.wanted()
        test = attempt(form, lambda: request_connection_test(user, wanted), TestRefused)
        if test is not None:
            wake_workers("llm")
            return redirect("connection-test", pk=test.pk)
    return render_form(request, "annotation/connection/detail.html", form, page=connection_page())


@require_role(Role.ADMIN, GET)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One test; while its result is to come, the page asks for its part of it each second."""
    test = get_object_or_404(ConnectionTest.objects.select_related("user"), pk=pk)
    fragment = "#result" if request.headers.get("HX-Request") else ""
    page = test_page(test)
    return render(request, f"annotation/connection/test.html{fragment}", {"page": page})
