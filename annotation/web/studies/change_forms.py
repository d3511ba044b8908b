"""Forms that change a study which has been started."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from django import forms
from django.contrib.auth.models import User

from annotation.models import Condition, Guideline, Study
from annotation.studies.audit_log import Verb, append_audit_event
from annotation.studies.enrolment.repeat_rounds import RepeatPairFilter
from annotation.studies.plan import plan
from annotation.studies.plan.plan import SAY_WHY
from annotation.web.shared.forms import Lines, set_choices, set_queryset
from annotation.web.studies.form import comparisons_of, study_field
from annotation.web.studies.page import strata_names
from retrieval.texts.hostile import mark_hostile_characters

LONG = Lines(attrs={"rows": 3})
AMENDED: Final = ("question", "reference", "margin", "exclusions", "information", "guideline")


def format_comparisons(comparisons: Iterable[Sequence[str]]) -> str:
    """As the form shows them: a line each."""
    return "\n".join(" vs ".join(pair) for pair in comparisons)


class AmendForm(forms.Form):
    """What a plan may still say otherwise."""

    question = study_field("question", widget=LONG)
    comparisons = forms.CharField(
        required=False,
        max_length=4_000,
        widget=LONG,
        label="Comparisons",
        help_text="A line each: agents vs reading.",
    )
    reference = forms.ChoiceField(label="Reference")
    margin = forms.FloatField(required=False, min_value=0, max_value=1, label="Margin", help_text="A share.")
    exclusions = study_field("exclusions", label="Exclusion rules", widget=LONG)
    information = study_field("information", label="Information text", widget=LONG)
    guideline = forms.ModelChoiceField(
        Guideline.objects.none(),
        required=False,
        label="Guidelines",
        help_text="Raters acknowledge another version before their next pair.",
    )
    reason = forms.CharField(
        required=False, max_length=2_000, label="Why", help_text="Kept with the amendment."
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        compared = format_comparisons(study.comparisons)
        standing = {name: getattr(study, name) for name in AMENDED} | {"comparisons": compared}
        super().__init__(*args, **{"initial": standing, **kwargs})
        self.study = study
        kinds = study.conditions.values_list("kind", flat=True)
        set_choices(self, "reference", [(kind, Condition.Kind(kind).label) for kind in kinds])
        self.fields["reason"].required = study.frozen_at is not None
        self.fields["reason"].error_messages["required"] = SAY_WHY
        set_queryset(self, "guideline", Guideline.objects.order_by("name", "-version"))

    def standing(self) -> str:
        """What stands in the place of what was typed otherwise."""
        names = [name for name in self.changed_data if name != "reason"]
        told = (f"{self.fields[name].label}: {str(self.initial.get(name) or 'none')[:300]}" for name in names)
        return f"Now: {'; '.join(told)}."

    def amend(self, seen: int, by: User) -> None:
        """Change the study as a valid form says, beside its change `seen` (-1: not told).

        Raises StudyRefused, and ChangedMeanwhile.
        """
        why = mark_hostile_characters(self.cleaned_data["reason"])
        with plan.change_with_amendment(self.study, why, by) as row:
            plan.refuse_if_changed(row, seen)
            self.apply(row)
            detail = {"why": why, "parts": self.changed_data}
            append_audit_event(by, Verb.STUDY_CHANGED, row.name, row, detail)

    def apply(self, row: Study) -> None:
        """Put what was typed into the row and save it. Raises StudyRefused."""
        values = self.cleaned_data
        for name in AMENDED:
            setattr(row, name, values[name])
        row.comparisons = [list(pair) for pair in comparisons_of(values["comparisons"])]
        row.save()


class AgainForm(forms.Form):
    """Which pairs are asked again."""

    tag = forms.CharField(required=False, max_length=40, label="Tag", help_text="As raters gave it: inverse.")
    text = forms.CharField(
        required=False, max_length=200, label="Text", help_text="Anywhere in query, code or notes."
    )
    slice = forms.ChoiceField(required=False, label="Slice")
    every = forms.BooleanField(required=False, label="Every rated pair")
    reason = forms.CharField(
        required=False,
        max_length=2_000,
        label="Why",
        help_text="Needed to ask them again, not to count them.",
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        strata = [(name, name) for name in strata_names(study)]
        set_choices(self, "slice", [("", "any"), ("split", "raters part"), *strata])

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors and self.choice().is_empty:
            raise forms.ValidationError(
                "Choose what is asked again: a tag, a text, a slice, or every rated pair."
            )
        if self.data.get("step") != "count" and not values.get("reason", "").strip():
            self.add_error("reason", "Say why the pairs are asked again.")
        return values

    def choice(self) -> RepeatPairFilter:
        values = self.cleaned_data
        return RepeatPairFilter(
            values["tag"].strip(), values["text"].strip(), values["slice"], values["every"]
        )
