"""Change the cap of a build, or the one that all live builds share."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotation import caps, steering
from annotation.access import Role, jobs_visible_to, needs
from annotation.caps import CapRefused
from annotation.models import Build
from annotation.pages import money, notices
from annotation.steering import Action, ControlRefused


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def build_cap(request: HttpRequest, pk: int) -> HttpResponse:
    """The form of a build's cap; `resume` also sets a paused build going."""
    build = get_object_or_404(jobs_visible_to(request.user).select_related("tally"), pk=pk)
    cap = money.cap_of(build.tally)
    form = money.CapForm(request.POST or None, cap)
    if form.is_valid():
        try:
            caps.change_cap(build, form.cleaned_data["budget"], request.user, form.cleaned_data["why"])
        except CapRefused as why:
            form.add_error(None, str(why))
        else:
            return changed(request, build)
    context = {"build": build, "cap": cap, "form": form, "can_resume": build.state == Build.State.PAUSED}
    return render(request, "annotation/build_cap.html", context, status=422 if form.errors else 200)


def changed(request: HttpRequest, build: Build) -> HttpResponse:
    """Back to the build, which goes on if that was asked for."""
    messages.success(request, "The cap is changed.")
    if request.POST.get("then") == "resume":
        try:
            steering.control(build, Action.RESUME, request.user, "with another cap")
        except ControlRefused as why:
            messages.error(request, str(why))
    return redirect("build", pk=build.pk)


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def project_cap(request: HttpRequest) -> HttpResponse:
    """The form of the cap; `do` resumes the builds that stopped at it."""
    if request.POST.get("do") == "resume":
        messages.success(request, money.resumed(len(caps.resume_stopped(request.user))))
        return redirect("project-cap")
    page = money.project_money()
    form = money.CapForm(request.POST or None, page.cap)
    if form.is_valid():
        try:
            caps.change_project_cap(form.cleaned_data["budget"], request.user, form.cleaned_data["why"])
        except CapRefused as why:
            form.add_error(None, str(why))
        else:
            messages.success(request, "The project’s cap is changed.")
            for notice in notices.uncounted():
                messages.warning(request, f"{notice.words} {notice.to_do}")
            return redirect("project-cap")
    context = {"page": page, "form": form}
    return render(request, "annotation/project_cap.html", context, status=422 if form.errors else 200)
