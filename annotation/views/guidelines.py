"""Guidelines: list, read a version, write the next one."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import Role, needs
from annotation.models import Guideline
from annotation.pages.guidelines import (
    CaseFormSet,
    GuidelineForm,
    cases_of,
    entries,
    guideline_page,
    preview_of,
)
from annotation.studies import guiding
from annotation.studies.guiding import BadGuideline, Wording
from annotation.views.studies import person


@require_safe
@needs(Role.ADMIN)
def index(request: HttpRequest) -> HttpResponse:
    return render(request, "annotation/guidelines.html", {"entries": entries()})


@require_safe
@needs(Role.ADMIN)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    page = guideline_page(get_object_or_404(Guideline.objects.select_related("created_by"), pk=pk))
    return render(request, "annotation/guideline.html", {"page": page})


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def new(request: HttpRequest) -> HttpResponse:
    return written(request, None)


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Write the version after this one, beginning with its text."""
    return written(request, get_object_or_404(Guideline, pk=pk))


def written(request: HttpRequest, before: Guideline | None) -> HttpResponse:
    """The form; `step=preview` shows it as raters will read it, `step=save` makes the version."""
    initial = {"name": before.name, "text": before.text} if before else {"text": guiding.first_text()}
    form = GuidelineForm(request.POST or None, initial=initial)
    cases = CaseFormSet(request.POST or None, initial=before.worked_cases if before else [])
    preview = None
    if form.is_valid() and cases.is_valid():
        wording = form.wording(cases_of(cases))
        made = saved(request, form, wording, before) if request.POST.get("step") == "save" else None
        if made:
            messages.success(request, f"{made} is written. Studies follow it when you say so.")
            return redirect("guideline", pk=made.pk)
        preview = preview_of(wording)
        cases = CaseFormSet(initial=list(wording.worked_cases))  # with room for more
    context = {"form": form, "cases": cases, "before": before, "preview": preview}
    return render(request, "annotation/guideline_edit.html", context, status=422 if form.errors else 200)


def saved(
    request: HttpRequest, form: GuidelineForm, wording: Wording, before: Guideline | None
) -> Guideline | None:
    """The version that was made; None where it is refused, which the form then says."""
    try:
        return guiding.write(wording, person(request), before.version if before else 0)
    except BadGuideline as why:
        form.add_error(None, str(why))
        return None
