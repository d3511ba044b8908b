"""Change what an expert's label does in a build."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from annotation.accounts.roles import FORM, Role, builds_visible_to, require_role
from annotation.builds.control.review_rule import change_review_rule, switch_hidden_reviews
from annotation.builds.control.spending_caps import LONGEST_REASON, CapRefused
from annotation.models.builds.build import ReviewRule
from annotation.web.shared.forms import attempt
from annotation.web.shared.requests import render_form
from retrieval.texts.plurals import count_noun


def review_rule_field(**otherwise: Any) -> forms.TypedChoiceField:
    """The choice between both rules, as the launch form has it, too."""
    return forms.TypedChoiceField(
        choices=ReviewRule.choices,
        coerce=int,
        initial=ReviewRule.AGREED,
        label="An expert’s label",
        help_text="When it replaces the agents’ label, for readers and in what is published.",
        **otherwise,
    )


class ReviewRuleForm(forms.Form):
    reviews_needed = review_rule_field()
    hides_reviews = forms.BooleanField(
        required=False,
        label="Hide others’ labels until one’s own is saved",
        help_text="Experts then label each pair without knowing what others said. Admins see all labels.",
    )
    reason = forms.CharField(
        max_length=LONGEST_REASON, label="Why", help_text="Kept in the history, with your name and the time."
    )


@require_role(Role.ADMIN, FORM)
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """The form, and after it the build, whose labels in force follow the new rule."""
    build = get_object_or_404(builds_visible_to(request.user).select_related("tally"), pk=pk)
    now = {"reviews_needed": build.reviews_needed, "hides_reviews": build.hides_reviews}
    form = ReviewRuleForm(request.POST or None, initial=now)
    if form.is_valid():
        wanted = form.cleaned_data["reviews_needed"], request.user, form.cleaned_data["reason"]
        changed = attempt(form, lambda: change_review_rule(build, *wanted), CapRefused)
        if changed is not None:
            hides = form.cleaned_data["hides_reviews"]
            switched = switch_hidden_reviews(build, hides, *wanted[1:])
            rule = ReviewRule(build.reviews_needed).label
            told = f"An expert’s label {rule}. {count_noun(changed, 'label')} changed."
            if switched:
                told += " Others’ labels are hidden now." if hides else " Others’ labels are shown now."
            messages.success(request, told)
            return redirect("build", pk=build.pk)
    return render_form(request, "annotation/builds/review_rule.html", form, build=build)
