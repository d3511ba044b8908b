"""Collections: what there is, what is in them, and what comes in."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from annotation.accounts.roles import GET, Role, require_role
from annotation.web.collections.page import collection_page, imports_table
from annotation.web.shared.jobs import render_job_table
from retrieval.models import Collection

MOST_COLLECTIONS = 500


@require_role(Role.ADMIN, GET)
def index(request: HttpRequest) -> HttpResponse:
    context = {"collections": Collection.objects.all()[:MOST_COLLECTIONS], "table": imports_table()}
    return render(request, "annotation/collections/index.html", context)


@require_role(Role.ADMIN, GET)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    collection = get_object_or_404(Collection, pk=pk)
    page = collection_page(collection, position(request, "after"), position(request, "before"))
    return render(request, "annotation/collections/detail.html", {"page": page})


@require_role(Role.ADMIN, GET)
def jobs(request: HttpRequest) -> HttpResponse:
    return render_job_table(request, imports_table())


def position(request: HttpRequest, name: str) -> int | None:
    """A cursor of the query string; anything that is no number is no cursor."""
    given = request.GET.get(name, "")
    return int(given) if given.isdecimal() and len(given) < 10 else None
