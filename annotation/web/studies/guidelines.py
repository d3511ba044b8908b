"""Guidelines to be read and written."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Count, Max

from annotation.models import Guideline, Study
from annotation.studies.plan.guidelines import (
    LONGEST_CASE,
    LONGEST_TEXT,
    MOST_CASES,
    Wording,
    find_guideline_versions,
    render_guideline_markdown,
)
from annotation.web.shared.forms import Lines

CHANGES = (
    (Guideline.Change.WORDING.value, "the wording: labels stay what they are"),
    (Guideline.Change.MEANING.value, "the meaning: some labels may be different now"),
)


def list_guideline_entries() -> list[tuple[Guideline, int]]:
    """Newest versions by name, each with how many studies follow any version. Two queries."""
    told = Guideline.objects.values("name").annotate(
        newest=Max("pk"), followed=Count("studies", distinct=True)
    )
    counts = dict(told.order_by().values_list("newest", "followed"))
    rows = Guideline.objects.filter(pk__in=counts).select_related("created_by").order_by("name")[:500]
    return [(row, counts[row.pk]) for row in rows]


def guideline_page(guideline: Guideline) -> dict[str, Any]:
    """One version, rendered, beside the others."""
    others = list(find_guideline_versions(guideline.name))
    return {
        "guideline": guideline,
        "html": render_guideline_markdown(guideline.text),
        "others": others,
        "studies": Study.objects.filter(guideline__name=guideline.name).select_related("guideline")[:50],
        "is_newest": others[0].pk == guideline.pk,
    }


class GuidelineForm(forms.Form):
    """A version as it is written; the first one has no change to tell."""

    name = forms.CharField(max_length=80, label="Name")
    text = forms.CharField(
        strip=False,
        max_length=LONGEST_TEXT,
        widget=Lines(attrs={"rows": 18, "class": "mono"}),
        label="Text",
        help_text="Markdown.",
    )
    change = forms.ChoiceField(
        required=False, choices=CHANGES, widget=forms.RadioSelect, label="What changes"
    )
    note = forms.CharField(
        required=False, max_length=2_000, label="What is different", help_text="Raters read it first."
    )

    def wording(self, cases: tuple[dict[str, Any], ...]) -> Wording:
        values = self.cleaned_data
        return Wording(values["name"], values["text"], values["change"], values["note"], cases)


class CaseForm(forms.Form):
    """One worked case."""

    query = forms.CharField(required=False, max_length=LONGEST_CASE, label="Query")
    code = forms.CharField(
        required=False,
        strip=False,
        max_length=LONGEST_CASE,
        widget=Lines(attrs={"rows": 4, "class": "mono", "spellcheck": "false"}),
        label="Code",
    )
    value = forms.CharField(required=False, max_length=20, label="Label")
    why = forms.CharField(required=False, max_length=LONGEST_CASE, label="Why")


CaseFormSet = forms.formset_factory(CaseForm, extra=2, max_num=MOST_CASES, absolute_max=MOST_CASES + 10)


def cases_of(forms_of_cases: Any) -> tuple[dict[str, Any], ...]:
    """The worked cases of a valid formset; empty ones are left out."""
    found = (
        {name: form.cleaned_data.get(name, "") for name in CaseForm.base_fields} for form in forms_of_cases
    )
    return tuple(case for case in found if any(str(cell).strip() for cell in case.values()))
