"""A collection of what passes filters of another one: choosing them, ordering it, and how far it is."""

from __future__ import annotations

from typing import cast

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import Role, needs
from annotation.pages import filtering as pages
from retrieval.models import Collection


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def index(request: HttpRequest, pk: int) -> HttpResponse:
    """POST orders the collection, which a worker makes, or with `count` all counts."""
    collection = get_object_or_404(Collection, pk=pk)
    if "count" in request.POST:
        if pages.may_count(collection):
            pages.order_counts(collection, cast(User, request.user))
        return redirect("collection-filters", pk=collection.pk)
    form = pages.FilterForm(collection, request.POST if request.method == "POST" else None)
    if form.is_valid() and form.job(cast(User, request.user)):
        return redirect("collection-filters", pk=collection.pk)
    context = {
        "collection": collection,
        "form": form,
        "choices": pages.choices_of(collection),
        "chosen": form["filters"].value() or [],
        "may_count": pages.may_count(collection),
        "table": pages.jobs_of(collection),
    }
    return render(request, "annotation/collection_filters.html", context, status=422 if form.errors else 200)


@require_safe
@needs(Role.ADMIN)
def jobs(request: HttpRequest, pk: int) -> HttpResponse:
    context = {"table": pages.jobs_of(get_object_or_404(Collection, pk=pk)), "ended": True}
    return render(request, "annotation/collection_filters.html#jobs", context)
