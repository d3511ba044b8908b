"""The explicit choice to do without a canary, in the forms that order paid pairs."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings


class SkippingForm(forms.Form):
    """A tick, and the reason that it takes."""

    skip_canary = forms.BooleanField(required=False, label="Skip the canary")
    skip_canary_because = forms.CharField(
        required=False,
        max_length=400,
        label="Why the canary is skipped",
        help_text="Kept in the build's history, with your name.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["skip_canary"].help_text = canary_words()

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("skip_canary") and not cleaned.get("skip_canary_because", "").strip():
            self.add_error("skip_canary_because", "Say why, or let the canary go first.")
        return cleaned

    @property
    def skipped(self) -> str:
        """Why a valid form skips the canary; empty where it does not."""
        values = self.cleaned_data
        return values["skip_canary_because"] if values["skip_canary"] else ""


def canary_words() -> str:
    """What a canary is, and which builds have one."""
    return (
        f"A live build of more than {max(settings.CANARY_ABOVE, settings.CANARY_CASES):,} cases (pairs times "
        f"rounds) judges {settings.CANARY_CASES:,} random ones first, then waits until you have seen what "
        "they cost."
    )
