"""Collections: what there is, what is in them, and what comes in."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.access import Role, needs
from annotation.pages import collections as pages
from retrieval.models import Collection


@require_safe
@needs(Role.ADMIN)
def index(request: HttpRequest) -> HttpResponse:
    return render(request, "annotation/collections.html", {"page": pages.collections_page()})


@require_safe
@needs(Role.ADMIN)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    collection = get_object_or_404(Collection, pk=pk)
    page = pages.collection_page(collection, position(request, "after"), position(request, "before"))
    return render(request, "annotation/collection.html", {"page": page})


@require_safe
@needs(Role.ADMIN)
def jobs(request: HttpRequest) -> HttpResponse:
    return render(request, "annotation/collections.html#jobs", {"jobs": pages.jobs_page()})


def position(request: HttpRequest, name: str) -> int | None:
    """A cursor of the query string; anything that is no number is no cursor."""
    given = request.GET.get(name, "")
    return int(given) if given.isdecimal() and len(given) < 10 else None
