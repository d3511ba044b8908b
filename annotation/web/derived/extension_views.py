"""Extend a build, and take an extension back while its pairs are mined."""

from __future__ import annotations

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from annotation.accounts.roles import FORM, Role, require_role
from annotation.builds.control import spending_caps
from annotation.builds.control.pause_resume import ControlRefused
from annotation.derived.derivation import Decision
from annotation.derived.extension import execution
from annotation.models import Build, Extension
from annotation.web.builds.views import find_visible_build
from annotation.web.derived.extension import ExtendPage, extend_page
from annotation.web.derived.offer import launch_offer, render_derived


@require_role(Role.ADMIN, FORM)
def extend(request: HttpRequest, pk: int) -> HttpResponse:
    """GET shows what a wish would take; POST does it, or takes back what is mined."""
    build, template = find_visible_build(request, pk), "annotation/derived/build_extend.html"
    if request.method != "POST":
        return render_derived(request, template, extend_page(build, request.GET or None))
    if request.POST.get("do") == "cancel":
        return taken_back(request, build)
    page = extend_page(build, request.POST, request.POST)
    made = launch_offer(request, page, lambda decision: extend_with_cap(page, decision))
    if made is None:
        return render_derived(request, template, page)
    messages.success(request, f"Extension {made.number} is mined now; its new pairs follow.")
    return redirect("build", pk=build.pk)


def extend_with_cap(page: ExtendPage, decision: Decision) -> Extension:
    """The extension, and the cap beside it where another one was typed: both, or neither."""
    assert page.offer is not None, "as launch_offer found it"
    budget = page.decision.cleaned_data["budget"]
    with transaction.atomic():
        made = page.offer.plan.launch(decision)
        if page.decision.has_changed() and spending_caps.convert_cap_to_nanodollars(budget) != page.cap.cap:
            spending_caps.change_cap(page.build, budget, decision.user, decision.reason)
    return made


def taken_back(request: HttpRequest, build: Build) -> HttpResponse:
    try:
        execution.cancel_extension(build, request.user, request.POST.get("note", "").strip())
    except ControlRefused as why:
        messages.error(request, str(why))
    else:
        messages.success(request, "Taken back: the build is as it was.")
    return redirect("build", pk=build.pk)
