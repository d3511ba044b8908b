"""Change the cap of a build, or the one that all live builds share."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from annotation.accounts.roles import FORM, Role, jobs_visible_to, require_role
from annotation.builds.control import pause_resume, spending_caps
from annotation.builds.control.pause_resume import Action, ControlRefused
from annotation.builds.control.spending_caps import CapRefused
from annotation.models import Build
from annotation.web.builds import notices
from annotation.web.money.page import CapForm, cap_of, project_money
from annotation.web.shared.forms import attempt
from annotation.web.shared.requests import render_form
from retrieval.texts.plurals import count_noun


@require_role(Role.ADMIN, FORM)
def build_cap(request: HttpRequest, pk: int) -> HttpResponse:
    """The form of a build's cap; `resume` also sets a paused build going."""
    build = get_object_or_404(jobs_visible_to(request.user).select_related("tally"), pk=pk)
    cap = cap_of(build.tally)
    form = CapForm(request.POST or None, cap)
    if form.is_valid():
        attempt(form, lambda: spending_caps.change_cap(build, *form.wanted(request.user)), CapRefused)
        if not form.errors:
            return changed(request, build)
    return render_form(
        request,
        "annotation/money/build_cap.html",
        form,
        build=build,
        cap=cap,
        can_resume=build.state == Build.State.PAUSED,
    )


def changed(request: HttpRequest, build: Build) -> HttpResponse:
    """Back to the build, which goes on if that was asked for."""
    messages.success(request, "The cap was changed.")
    if request.POST.get("then") == "resume":
        try:
            pause_resume.control_build(build, Action.RESUME, request.user, "with another cap")
        except ControlRefused as why:
            messages.error(request, str(why))
    return redirect("build", pk=build.pk)


@require_role(Role.ADMIN, FORM)
def project_cap(request: HttpRequest) -> HttpResponse:
    """The form of the cap; `do` resumes the builds that stopped at it."""
    if request.POST.get("do") == "resume":
        went = count_noun(
            len(spending_caps.resume_stopped(request.user)), "build continues", "builds continue"
        )
        messages.success(request, f"{went}. If the cap leaves nothing, they stop again.")
        return redirect("project-cap")
    page = project_money()
    form = CapForm(request.POST or None, page["cap"])
    if form.is_valid():
        attempt(form, lambda: spending_caps.change_project_cap(*form.wanted(request.user)), CapRefused)
        if not form.errors:
            messages.success(request, "The project’s cap was changed.")
            for notice in notices.build_unpriced_notices():
                messages.warning(request, f"{notice['words']} {notice['to_do']}")
            return redirect("project-cap")
    return render_form(request, "annotation/money/project_cap.html", form, page=page)
