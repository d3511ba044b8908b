"""Test connection: what is asked is recorded, a worker asks it, the page shows what came of it."""

from __future__ import annotations

from typing import cast

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation import connecting, tasks
from annotation.access import Role, needs
from annotation.models import ConnectionTest
from annotation.pages import connecting as pages


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def index(request: HttpRequest) -> HttpResponse:
    form = pages.ConnectionForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            test = connecting.ask(cast(User, request.user), form.wanted())
        except connecting.TestRefused as why:
            form.add_error(None, str(why))
        else:
            tasks.wake("llm")
            return redirect("connection-test", pk=test.pk)
    context = {"form": form, "page": pages.connection_page()}
    return render(request, "annotation/connection.html", context, status=422 if form.errors else 200)


@require_safe
@needs(Role.ADMIN)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One test; while its result is to come, the page asks for its part of it each second."""
    test = get_object_or_404(ConnectionTest.objects.select_related("user"), pk=pk)
    fragment = "#result" if request.headers.get("HX-Request") else ""
    page = pages.test_page(test)
    return render(request, f"annotation/connection_test.html{fragment}", {"page": page})
