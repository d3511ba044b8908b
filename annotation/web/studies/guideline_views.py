"""Guidelines: list, read a version, write the next one."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.accounts.roles import FORM, GET, Role, require_role
from annotation.models import Guideline
from annotation.studies.plan import guidelines
from annotation.studies.plan.guidelines import BadGuideline, render_guideline_markdown
from annotation.web.shared.forms import attempt
from annotation.web.shared.requests import person, render_form
from annotation.web.studies.guidelines import (
    CaseFormSet,
    GuidelineForm,
    cases_of,
    guideline_page,
    list_guideline_entries,
)


@require_role(Role.ADMIN, GET)
def index(request: HttpRequest) -> HttpResponse:
    return render(request, "annotation/studies/guidelines.html", {"entries": list_guideline_entries()})


@require_role(Role.ADMIN, GET)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    page = guideline_page(get_object_or_404(Guideline.objects.select_related("created_by"), pk=pk))
    return render(request, "annotation/studies/guideline.html", {"page": page})


@require_role(Role.ADMIN, FORM)
def new(request: HttpRequest) -> HttpResponse:
    return written(request, None)


@require_role(Role.ADMIN, FORM)
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Write the version after this one, beginning with its text."""
    return written(request, get_object_or_404(Guideline, pk=pk))


def written(request: HttpRequest, before: Guideline | None) -> HttpResponse:
    """The form; `step=preview` shows it as raters will read it, `step=save` makes the version."""
    initial = {"name": before.name, "text": before.text} if before else {"text": guidelines.first_text()}
    form = GuidelineForm(request.POST or None, initial=initial)
    cases = CaseFormSet(request.POST or None, initial=before.worked_cases if before else [])
    preview = None
    if form.is_valid() and cases.is_valid():
        wording = form.wording(cases_of(cases))
        earlier = before.version if before else 0

        def save() -> Guideline:
            return guidelines.write_guideline_version(wording, person(request), earlier)

        if request.POST.get("step") == "save" and (made := attempt(form, save, BadGuideline)):
            messages.success(request, f"{made} is written. Studies follow it when you say so.")
            return redirect("guideline", pk=made.pk)
        preview = {"html": render_guideline_markdown(wording.text), "cases": wording.worked_cases}
        cases = CaseFormSet(initial=list(wording.worked_cases))  # with room for more
    return render_form(
        request, "annotation/studies/guideline_edit.html", form, cases=cases, before=before, preview=preview
    )
