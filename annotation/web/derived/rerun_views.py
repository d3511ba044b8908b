"""Run cases of a build again from a stage on, as another build."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from annotation.accounts.roles import FORM, Role, builds_visible_to, require_role
from annotation.web.builds.views import find_visible_build
from annotation.web.derived.offer import launch_offer, render_derived
from annotation.web.derived.rerun import again_page, pick_rerun_cases
from retrieval.texts.plurals import count_noun


@require_role(Role.ADMIN, FORM)
def again(request: HttpRequest, pk: int) -> HttpResponse:
    """GET shows which cases are meant and what they would take; POST launches the new build."""
    build, params = find_visible_build(request, pk), request.POST if request.method == "POST" else request.GET
    found = pick_rerun_cases(build, builds_visible_to(request.user), params)
    page = again_page(build, found, params, request.POST if request.method == "POST" else None)
    if page.offer and (made := launch_offer(request, page)):
        cases = count_noun(page.offer.plan.able, "case is", "cases are")
        messages.success(request, f"{cases} run again.")
        return redirect("build", pk=made.pk)
    return render_derived(request, "annotation/derived/build_again.html", page)
