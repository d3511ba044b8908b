"""Collections: what there is, what is in them, and how more comes in."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import Role, needs
from annotation.pages import collections as pages
from annotation.pages.uploading import COMMANDS, UploadForm
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


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def upload(request: HttpRequest) -> HttpResponse:
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if form.is_bound and form.is_valid():
        job = form.job(cast(User, request.user))
        messages.success(request, f"“{job.name}” waits for a worker; its progress is below.")
        return redirect("collections")
    context = {"form": form, "commands": COMMANDS.values()}
    return render(request, "annotation/upload.html", context, status=422 if form.errors else 200)


@require_safe
@needs(Role.ADMIN)
def jobs(request: HttpRequest) -> HttpResponse:
    return render(request, "annotation/collections.html#jobs", {"jobs": pages.jobs_page()})


def position(request: HttpRequest, name: str) -> int | None:
    """A cursor of the query string; anything that is no number is no cursor."""
    given = request.GET.get(name, "")
    return int(given) if given.isdecimal() and len(given) < 10 else None
