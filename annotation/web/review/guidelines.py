"""The guidelines of plain review: to be read over a pair and on a page, and to be chosen by an admin."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.accounts.roles import FORM, GET, Role, builds_visible_to, require_role
from annotation.builds.control.spending_caps import LONGEST_REASON, CapRefused
from annotation.models import Build, Guideline
from annotation.review.guidelines import PUBLISHED_RULE, name_guideline, set_guideline, text_of_build
from annotation.studies.plan.guidelines import render_guideline_markdown
from annotation.web.rating.study_list import Guide, build_rater_guide
from annotation.web.shared.forms import attempt, set_queryset
from annotation.web.shared.requests import person, render_form


def guide_of_build(build: Build) -> Guide:
    """What the build's reviewers follow. One query where it has guidelines of its own."""
    if build.guideline:
        return build_rater_guide(build.guideline, unread=False)
    return Guide(0, PUBLISHED_RULE, render_guideline_markdown(text_of_build(build)), (), "", unread=False)


@require_role(Role.EXPERT, GET)
def detail(request: HttpRequest, build_pk: int) -> HttpResponse:
    """The guidelines on a page of their own, where the overlay can't open."""
    build = get_object_or_404(builds_visible_to(request.user).select_related("guideline"), pk=build_pk)
    page = {"build": build, "guide": guide_of_build(build)}
    return render(request, "annotation/review/guidelines.html", {"page": page})


class BuildGuidelineForm(forms.Form):
    guideline = forms.ModelChoiceField(
        Guideline.objects.none(),
        required=False,
        empty_label=PUBLISHED_RULE,
        label="Guidelines",
        help_text="What reviewers of this build read with the key /.",
    )
    reason = forms.CharField(
        max_length=LONGEST_REASON, label="Why", help_text="Kept in the history, with your name and the time."
    )


@require_role(Role.ADMIN, FORM)
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Choose a version of guidelines for the build's reviewers."""
    build = get_object_or_404(builds_visible_to(request.user).select_related("guideline"), pk=pk)
    form = BuildGuidelineForm(request.POST or None, initial={"guideline": build.guideline_id})
    set_queryset(form, "guideline", Guideline.objects.order_by("name", "-version"))
    if form.is_valid():
        chosen, why = form.cleaned_data["guideline"], form.cleaned_data["reason"]
        changed = attempt(form, lambda: set_guideline(build, chosen, person(request), why), CapRefused)
        if changed is not None:
            messages.success(request, f"Reviewers of {build.name} read {name_guideline(chosen)}.")
            return redirect("build", pk=build.pk)
    return render_form(request, "annotation/builds/guidelines.html", form, build=build)
