"""Extend a build, and take an extension back while its pairs are mined."""

from __future__ import annotations

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation import caps
from annotation.access import Role, needs
from annotation.caps import CapRefused
from annotation.estimating import confirming
from annotation.extending import doing
from annotation.launching import LaunchRefused
from annotation.models import Build, Extension
from annotation.pages.extending import ExtendPage, extend_page
from annotation.steering import ControlRefused
from annotation.views.builds import visible


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def extend(request: HttpRequest, pk: int) -> HttpResponse:
    """GET shows what a wish would take; POST does it, or takes back what is mined."""
    build = visible(request, pk)
    if request.method != "POST":
        return shown(request, extend_page(build, request.GET or None))
    if request.POST.get("do") == "cancel":
        return taken_back(request, build)
    page = extend_page(build, request.POST, request.POST)
    if page.offer and page.decision.is_valid():
        try:
            made = decided(request, page)
        except (ControlRefused, LaunchRefused, CapRefused) as why:
            page.form.add_error(None, str(why))
        else:
            messages.success(request, f"Extension {made.number} is mined now; its new pairs follow.")
            return redirect("build", pk=build.pk)
    return shown(request, page, 422)


def shown(request: HttpRequest, page: ExtendPage, status: int = 200) -> HttpResponse:
    wrong = page.form.is_bound and page.form.errors
    return render(request, "annotation/build_extend.html", {"page": page}, status=422 if wrong else status)


def decided(request: HttpRequest, page: ExtendPage) -> Extension:
    """The extension, and the cap beside it where another one was typed."""
    why, budget = page.decision.cleaned_data["why"], page.decision.cleaned_data["budget"]
    word = request.POST.get("estimate", "")
    confirming.refuse_unshown(page.build.provider, word)
    with transaction.atomic():
        made = doing.extend(page.build, page.form.wish(), why, request.user, word, page.decision.skipped)
        if page.decision.has_changed() and caps.nanodollars(budget) != page.cap.cap:
            caps.change_cap(page.build, budget, request.user, why)
    return made


def taken_back(request: HttpRequest, build: Build) -> HttpResponse:
    try:
        doing.cancel(build, request.user, request.POST.get("note", "").strip())
    except ControlRefused as why:
        messages.error(request, str(why))
    else:
        messages.success(request, "Taken back: the build is as it was.")
    return redirect("build", pk=build.pk)
