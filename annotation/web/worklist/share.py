"""The form that shares a list out: to which experts, and how many for each pair."""

from __future__ import annotations

from django import forms
from django.contrib.auth.models import User

from annotation.web.shared.forms import set_queryset
from annotation.web.worklist.filters import LARGEST_SEED
from annotation.web.worklist.page import list_experts


class ShareForm(forms.Form):
    """The same people, overlap and seed share the same pairs in the same way."""

    experts = forms.ModelMultipleChoiceField(
        User.objects.none(), widget=forms.CheckboxSelectMultiple, label="Experts"
    )
    overlap = forms.IntegerField(
        min_value=1,
        max_value=20,
        initial=1,
        label="Experts for each pair",
        help_text="With 2, two experts label each pair, and you can see where they disagree.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        initial=1,
        label="Seed",
        help_text="The same seed shares the same pairs in the same way.",
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # as Django's forms take them
        set_queryset(self, "experts", list_experts())
