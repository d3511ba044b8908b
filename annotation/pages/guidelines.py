"""Guidelines to be read and written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.db.models import Count, Max
from django.utils.safestring import SafeString

from annotation.models import Guideline, Study
from annotation.pages.lines import Lines
from annotation.studies.guiding import LONGEST_CASE, LONGEST_TEXT, MOST_CASES, Wording, rendered, versions

CHANGES = (
    (Guideline.Change.WORDING.value, "the wording: labels stay what they are"),
    (Guideline.Change.MEANING.value, "the meaning: some labels may be different now"),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """The newest version of some guidelines, and how many studies follow any version."""

    newest: Guideline
    studies: int


@dataclass(frozen=True, slots=True)
class GuidelinePage:
    """One version, rendered, beside the others."""

    guideline: Guideline
    html: SafeString
    others: tuple[Guideline, ...]
    studies: tuple[Study, ...]
    is_newest: bool


@dataclass(frozen=True, slots=True)
class Preview:
    """A version that is being written, as raters will read it."""

    html: SafeString
    cases: tuple[dict[str, Any], ...]


def preview_of(wording: Wording) -> Preview:
    return Preview(rendered(wording.text), wording.worked_cases)


def entries() -> tuple[Entry, ...]:
    """Newest versions by name. Two queries."""
    told = Guideline.objects.values("name").annotate(
        newest=Max("pk"), followed=Count("studies", distinct=True)
    )
    counts = {row["newest"]: row["followed"] for row in told.order_by()}
    rows = Guideline.objects.filter(pk__in=counts).select_related("created_by").order_by("name")[:500]
    return tuple(Entry(row, counts[row.pk]) for row in rows)


def guideline_page(guideline: Guideline) -> GuidelinePage:
    others = tuple(versions(guideline.name))
    return GuidelinePage(
        guideline=guideline,
        html=rendered(guideline.text),
        others=others,
        studies=tuple(Study.objects.filter(guideline__name=guideline.name).select_related("guideline")[:50]),
        is_newest=others[0].pk == guideline.pk,
    )


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
        {name: one.cleaned_data.get(name, "") for name in CaseForm.base_fields} for one in forms_of_cases
    )
    return tuple(case for case in found if any(str(cell).strip() for cell in case.values()))
