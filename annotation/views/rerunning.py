"""Run cases of a build again from a stage on, as another build."""

from __future__ import annotations

from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import Role, builds_visible_to, needs
from annotation.caps import CapRefused
from annotation.estimating import confirming
from annotation.launching import LaunchRefused
from annotation.pages.rerunning import AgainPage, again_page, picked
from annotation.rerunning import ordering
from annotation.views.builds import visible
from retrieval.counting import counted


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def again(request: HttpRequest, pk: int) -> HttpResponse:
    """GET shows which cases are meant and what they would take; POST launches the new build."""
    build, params = visible(request, pk), request.POST if request.method == "POST" else request.GET
    found = picked(build, builds_visible_to(request.user), params)
    if request.method != "POST":
        return shown(request, again_page(build, found, params))
    page = again_page(build, found, params, request.POST)
    if page.offer and page.decision.is_valid():
        why, word = page.decision.cleaned_data["why"], request.POST.get("estimate", "")
        wish = replace(page.form.again(), skip_canary=page.decision.skipped)
        try:
            confirming.refuse_unshown(wish.provider or build.provider, word)
            made = ordering.launch(build, found.cases, wish, why, request.user, word, found.words)
        except (LaunchRefused, CapRefused) as refused:
            page.form.add_error(None, str(refused))
        else:
            cases = counted(page.offer.plan.able, "case is", "cases are")
            messages.success(request, f"{cases} run again.")
            return redirect("build", pk=made.pk)
    return shown(request, page, 422)


def shown(request: HttpRequest, page: AgainPage, status: int = 200) -> HttpResponse:
    # A link that is followed is never wrong, even where the build's own choices can't be had again.
    wrong = page.form.errors and "start" in (request.POST or request.GET)
    return render(request, "annotation/build_again.html", {"page": page}, status=422 if wrong else status)
