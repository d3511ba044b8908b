"""A collection of what passes filters of another one: choosing them, ordering it, and how far it is."""

from __future__ import annotations

from typing import cast

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.accounts.roles import FORM, GET, Role, require_role
from annotation.web.collections import filter_page
from annotation.web.shared.jobs import render_job_table
from retrieval.models import Collection


@require_role(Role.ADMIN, FORM)
def index(request: HttpRequest, pk: int) -> HttpResponse:
    """POST orders the collection, which a worker makes, or with `count` all counts."""
    collection = get_object_or_404(Collection, pk=pk)
    if "count" in request.POST:
        if filter_page.may_count(collection):
            filter_page.order_counts(collection, cast(User, request.user))
        return redirect("collection-filters", pk=collection.pk)
    form = filter_page.FilterForm(collection, request.POST if request.method == "POST" else None)
    if form.is_valid() and form.job(cast(User, request.user)):
        return redirect("collection-filters", pk=collection.pk)
    context = {
        "collection": collection,
        "form": form,
        "choices": filter_page.choices_of(collection),
        "chosen": form["filters"].value() or [],
        "may_count": filter_page.may_count(collection),
        "table": filter_page.filter_jobs_of_collection(collection),
    }
    return render(request, "annotation/collections/filters.html", context, status=422 if form.errors else 200)


@require_role(Role.ADMIN, GET)
def jobs(request: HttpRequest, pk: int) -> HttpResponse:
    collection = get_object_or_404(Collection, pk=pk)
    return render_job_table(request, filter_page.filter_jobs_of_collection(collection))
